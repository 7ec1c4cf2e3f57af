"""A run of the job that is killed again and again."""

import random
import time
from collections import Counter

from killing.driver import Driver, Progress, awaited, members

MOMENTS = ("plan", "join", "tell", "commit")
_WORK = 1.0  # seconds that the work of a batch may take
_START = 12.0  # seconds that a driver may take to start
_PATIENT = 5  # drivers that a crowded machine may starve before the test gives up


class Ordeal:
    """Kills at moments that follow from a seed, and what each of them hit.

    Parameters
    ----------
    moments
        One for each kill: after the commit of a batch and before the next is planned; during the
        work of a batch; when its state is written but not its rows; when they are written but not
        the commit; or "any" moment at all, the driver's start included.
    """

    def __init__(self, files, folder, names, moments, *, seed, settings=None):
        self.files, self.folder, self.names = files, folder, names
        self.settings = settings
        self.chance = random.Random(seed)
        self.hit = Counter()
        self._sessions = []
        for moment in moments:
            self._kill_at(moment)
        driver = self._driver_until(lambda: False)
        with driver:
            driver.finish()
        awaited(lambda: not any(map(members, self._sessions)), "orphaned workers to end", 60)

    def _driver_until(self, reached):
        """Start drivers until one lives to see the moment, or ends as it should."""
        for _ in range(_PATIENT):
            driver = Driver(self.files, self.folder, self.names, settings=self.settings)
            self._sessions.append(driver.process.pid)
            try:
                awaited(lambda d=driver: d.ended or reached(), "the moment of a kill")
            except BaseException:
                driver.kill()
                raise
            if not driver.starved:
                return driver
            driver.kill()
        raise AssertionError(f"{_PATIENT} drivers could not start their Python workers")

    def _kill_at(self, moment):
        watched = Progress(self.folder, self.chance.choice(self.names))
        driver = self._driver_until(self._awaited_of(watched, moment))
        try:
            if moment == "join":
                time.sleep(self.chance.random() * _WORK)  # any moment of the work will do
            assert not driver.ended, driver.words.read_text()
        finally:
            driver.kill()
        self.hit.update(Progress(self.folder, name).phase for name in self.names)

    def _awaited_of(self, watched, moment):
        """Return what says that the moment has come, in the run that begins now."""
        if moment == "any":
            end = time.monotonic() + self.chance.random() * _START
            return lambda: time.monotonic() > end
        seen = {"plan": "committed", "join": "planned", "tell": "joined", "commit": "told"}[moment]
        last = getattr(watched, seen) + self.chance.randrange(2)
        return lambda: getattr(watched, seen) > last
