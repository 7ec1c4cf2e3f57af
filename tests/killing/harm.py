"""Harm to those who work for a driver, while the driver itself goes on."""

import random
import time

from killing.cluster import kill
from killing.driver import Driver, Progress, awaited

_WORK = 0.7  # seconds into the work of a batch at the latest


class Harm:
    """A run in which processes are killed in the middle of batches.

    Parameters
    ----------
    deeds
        One for each kill: given the driver, returns the processes of which one is to die, or none
        if there are none yet.
    """

    def __init__(self, files, folder, names, deeds, *, seed, settings):
        self.chance = random.Random(seed)
        self.within_a_batch = 0
        with Driver(files, folder, names, settings=settings) as driver:
            for deed in deeds:
                progress = Progress(folder, self.chance.choice(names))
                self._at_work(driver, progress)
                victims = awaited(lambda d=deed: driver.ended or d(driver), "somebody to kill")
                assert not driver.ended, driver.words.read_text()
                self.within_a_batch += progress.planned > progress.committed
                victim = self.chance.choice(victims)
                (victim.kill if hasattr(victim, "kill") else lambda v=victim: kill(v))()
            driver.finish()

    def _at_work(self, driver, progress):
        """Wait for a moment in the middle of a batch that begins now."""
        last = max(progress.planned, 0)
        awaited(lambda: driver.ended or progress.planned > last, "a batch to begin")
        time.sleep(self.chance.random() * _WORK)
