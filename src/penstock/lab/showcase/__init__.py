"""What a budget costs on real flights: which matches are kept, which are lost, and where.

Two flights that leave New York for the same destination within a few hours are flights a
passenger could swap.  The join of two airports is run exactly and on a budget, and the
lost matches are looked at one by one.
"""

import time

from penstock.lab.record import Record, made_with
from penstock.lab.showcase.findings import Bars, Question, look_into
from penstock.lab.showcase.telling import facts, headlines, notes, panels, question_of, tables

__all__ = ["Question", "showcase"]


def showcase(question: Question, *, command: str, bars: Bars) -> Record:
    """Run the join exactly and on a budget, and record what was kept and what was lost.

    Parameters
    ----------
    question
        What is asked.
    command
        The command that asks it, for the record.
    bars
        Begins the display of one part's progress.
    """
    began = time.perf_counter()
    findings = look_into(question, bars=bars)
    return Record(
        name="demo",
        title="Flights a passenger could swap",
        question=question_of(findings),
        workload=findings.workload,
        command=command,
        seeds=(question.seed,),
        panels=panels(findings),
        tables=tables(findings),
        notes=notes(findings),
        seconds=time.perf_counter() - began,
        made_with=made_with(),
        headlines=headlines(findings),
        facts=facts(findings),
    )
