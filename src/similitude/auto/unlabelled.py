"""What samples without a label brought to a search."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from similitude.auto.choice import Choice
from similitude.auto.combination import combine_each, eligible
from similitude.auto.method_results import MethodResults
from similitude.base import uses_unlabelled
from similitude.evaluation.engine import reading_part


@dataclass(frozen=True, repr=False)
class UnlabelledReport:
    """How many samples had no label, and what they brought; ``print`` shows it as a sentence.

    Parameters
    ----------
    n_labelled, n_unlabelled : int
        The numbers of samples with and without a label.
    weight : float
        The weight, in the choice, of the methods that use samples without a label.
    error : float
        The cross-validated error of the choice.
    error_without : float or None
        That of the combination of the methods that do not use them, on the same folds; None if there are none.
    """

    n_labelled: int
    n_unlabelled: int
    weight: float
    error: float
    error_without: float | None

    def __repr__(self) -> str:
        text = f"{self.n_unlabelled} samples without a label are used beside {self.n_labelled} with one: "
        text += f"methods that use them have a weight of {self.weight:.2f}, and the error is {100 * self.error:.2f}%"
        if self.error_without is None:
            return f"{text}."
        return f"{text}, against {100 * self.error_without:.2f}% of the methods that do not use them, combined."


def what_unlabelled_brought(results: MethodResults, choice: Choice, random_state: int) -> UnlabelledReport:
    """Return what the samples without a label brought."""

    def uses(run: object) -> bool:
        return results.samples.n_unlabelled > 0 and uses_unlabelled(reading_part(run.estimator)[0])  # type: ignore[attr-defined]

    others = [run for run in eligible(results) if not uses(run)]
    without = combine_each(results, random_state, [others])[0] if others else None
    return UnlabelledReport(
        len(results.codes),
        results.samples.n_unlabelled,
        float(sum(member.weight for member in choice.members if uses(member.run))),
        float(np.mean(choice.judgement.wrong)),
        None if without is None else float(np.mean(without.wrong)),
    )
