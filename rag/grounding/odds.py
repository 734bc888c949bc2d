"""A verifier that reads: a language model's own odds of yes against no, from the first token of its reply."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Mapping

from rag.errors import ModelUnavailable, NoLogprobs, RagError
from rag.grounding.calibration import Calibration, Calibrations, calibrate, examples, key_of
from rag.grounding.verifiers import LONGEST, Opinion

Ask = Callable[[str, float, threading.Event | None], Mapping[str, float] | None]
"""(prompt, seconds, stop) → log-probabilities of the likeliest first tokens, None after a stop."""

_MARKS = " \t\r\n\"'`*.,:;!()[]<>▁Ġ"


class NoOpinion(ValueError):
    """Neither yes nor no is among the likeliest tokens."""


class Odds:
    """The odds of one model. `ask` raises NoLogprobs where they cannot be had; `prompt` takes a passage and a claim.

    Before its first claim a model is measured on our own pairs, as far as there is time; what was measured is kept.
    """

    name = "odds"

    def __init__(
        self,
        model: str,
        ask: Ask,
        prompt: Callable[[str, str], str],
        *,
        kept: Calibrations | None = None,
        key: str = "",
    ) -> None:
        self.model = model
        self._ask, self._prompt = ask, prompt
        self._kept = kept or Calibrations()
        self._key = key or model
        self._calibration: Calibration | None = None

    @property
    def calibration(self) -> Calibration | None:
        """What the model's odds are worth; None while that has not been measured."""
        if self._calibration is None:
            known = self._kept.odds(self._key)
            rows = [(known[key], one.supported) for one in examples() if (key := key_of(one, self._prompt)) in known]
            if len(rows) == len(examples()):
                self._calibration = calibrate([odds for odds, _ in rows], [supported for _, supported in rows])
        return self._calibration

    @property
    def unable(self) -> str:
        """Why the model cannot be asked, as found out before; "" where it may be."""
        return self._kept.unable(self._key)

    def odds(self, passage: str, claim: str, *, seconds: float = LONGEST, stop: threading.Event | None = None) -> float:
        """Natural log-odds of "yes" against "no". Raises NoOpinion, NoLogprobs or another ModelUnavailable."""
        return self._odds_of(self._prompt(passage, claim), seconds, stop)

    def reading(self, prompt: str, *, seconds: float = LONGEST, stop: threading.Event | None = None) -> float | None:
        """The log-likelihood ratio that the odds of yes to any prompt amount to; None where the model has not been
        measured, cannot read, or fails."""
        calibration = self.calibration
        if self.unable or calibration is None or not calibration.reads:
            return None
        try:
            return calibration.reading(self._odds_of(prompt, seconds, stop))
        except (NoOpinion, RagError, OSError):
            return None

    def _odds_of(self, prompt: str, seconds: float, stop: threading.Event | None) -> float:
        tokens = self._ask(prompt, seconds, stop)
        if tokens is None:
            raise NoOpinion("stopped")
        return log_odds(tokens)

    def measure(
        self,
        *,
        seconds: float = math.inf,
        stop: threading.Event | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> Calibration | None:
        """Put our pairs to the model, those left over from an earlier try; None where time ran out or `stop` was set.

        Raises NoLogprobs where it gives no odds or never says yes or no, and that is kept too.
        """
        deadline = time.monotonic() + seconds
        known = self._kept.odds(self._key)
        wanted = [(one, key_of(one, self._prompt)) for one in examples()]
        failed = 0
        for place, (one, key) in enumerate(wanted):
            if progress:
                progress(place, len(wanted))
            if key in known:
                continue
            left = deadline - time.monotonic()
            if left <= 0 or (stop and stop.is_set()):
                break
            try:
                known[key] = self.odds(one.passage, one.claim, seconds=min(left, LONGEST), stop=stop)
            except NoOpinion:
                if stop and stop.is_set():
                    break
                failed += 1
                if failed * 4 > len(wanted):
                    reason = f"{self.model} says neither yes nor no"
                    self._kept.put(self._key, unable=reason)
                    raise NoLogprobs(reason) from None
                known[key] = 0.0  # as good as a coin
            except NoLogprobs as error:
                self._kept.put(self._key, unable=error.message)
                raise
            except ModelUnavailable:
                if deadline - time.monotonic() > 0:
                    raise
                break
        self._kept.put(self._key, odds=known)
        return self.calibration

    def prepare(self, seconds: float, stop: threading.Event) -> str:
        """Measure the model, within `seconds`; what it lacks then is measured the next time."""
        if self.unable:
            return self.unable
        try:
            found = self.measure(seconds=seconds, stop=stop)
        except RagError as error:
            return error.message
        if found is None:
            return f"{self.model} has still to be measured as a checker (rag doctor does it at once)"
        return "" if found.reads else f"{self.model} is {found.worth}"

    def read(
        self, claim: str, passage: str, *, seconds: float = LONGEST, stop: threading.Event | None = None
    ) -> Opinion:
        """An opinion without a verdict: what the odds amount to, for the located words to be weighed with."""
        calibration = self.calibration
        if calibration is None:
            return Opinion(None, failed=f"{self.model} has not been measured yet")
        try:
            return Opinion(None, reading=calibration.reading(self.odds(passage, claim, seconds=seconds, stop=stop)))
        except (NoOpinion, RagError, OSError) as error:
            return Opinion(None, failed=getattr(error, "message", str(error)))


def log_odds(tokens: Mapping[str, float]) -> float:
    """Log of the summed probability of the spellings of yes over that of no; log-probabilities in, natural log out.

    Where one of the two is missing, it is taken to be as likely as the least likely token that is there: an upper
    bound, so that the odds are never exaggerated. Raises NoOpinion where both are missing.
    """
    sums = {"yes": 0.0, "no": 0.0}
    for token, logprob in tokens.items():
        word = token.strip(_MARKS).lower()
        if word in sums:
            sums[word] += math.exp(logprob)
    if not any(sums.values()):
        raise NoOpinion("neither yes nor no is among the likeliest tokens")
    least = math.exp(max(min(tokens.values()), -60.0))
    return math.log(sums["yes"] or least) - math.log(sums["no"] or least)
