"""A run that knows the agent's instructions, the most usual kind: ``python -m aam_vision.run``."""

from __future__ import annotations

import warnings
from dataclasses import replace
from functools import partial
from pathlib import Path
from time import perf_counter

import numpy as np

from aam_vision.agents.counting import CountingAgent
from aam_vision.agents.decorator import AnnouncedAgent
from aam_vision.agents.image import image_test, unlike
from aam_vision.agents.journal import WENT_ON, Journal
from aam_vision.agents.journalled import JournalledAgent
from aam_vision.interrogation.chance.going_on import can_go_on, go_on
from aam_vision.interrogation.evidence.graph import Evidence
from aam_vision.interrogation.evidence.moves import Move
from aam_vision.interrogation.memory.changed import can_renew, renew
from aam_vision.interrogation.memory.going_on import Remembered, can_remember, remember
from aam_vision.interrogation.memory.histories import RecordingAgent
from aam_vision.interrogation.statistics.assessment import Assessment
from aam_vision.interrogation.task.assembly import Interrogation
from aam_vision.interrogation.task.budget import Budget
from aam_vision.interrogation.task.loop import Interrupted
from aam_vision.interrogation.task.result import Result, check_prior
from aam_vision.interrogation.task.robust import Observer
from aam_vision.interrogation.task.trial_design import Proposal
from aam_vision.interrogation.task.verdict import FAILED, NOT_STRIPS
from aam_vision.model.pddl import domain_text, read_domain
from aam_vision.model.strips import Model
from aam_vision.planning.planner import Clock, Planner, TimedPlanner, cpu_seconds
from aam_vision.report.display import Display, Sights
from aam_vision.report.recorded import images
from aam_vision.run.arguments import Arguments
from aam_vision.run.chance import figures, finish, options_of, progress_of
from aam_vision.run.checks import options_given
from aam_vision.run.ended import Ended, accusation, exit_code
from aam_vision.run.folder import save
from aam_vision.run.labelling_note import seen, told_unlike, untested, with_other_cause
from aam_vision.run.summary import lines, summary
from aam_vision.run.targets import Target
from aam_vision.support.commandline import Progress, check_writable
from aam_vision.support.errors import AamWarning, AccessViolation, AgentFailed, UnusableInput
from aam_vision.support.resources import MEGABYTES, Resources
from aam_vision.support.wording import counted

READ_WELL = 0.98
"""Share of unseen images that classifiers read exactly, at least, before what looks hidden is taken for the agent's doing."""


class ToldRun:
    """A run whose instructions are told.

    Raises:
        UnusableInput: the agent or an option cannot be used.
    """

    def __init__(self, arguments: Arguments, planner: Planner, target: Target) -> None:
        if arguments.write_ppo is not None:
            check_writable(arguments.write_ppo, "--write-ppo")
        self._arguments = arguments
        self._planner = TimedPlanner(planner)
        self.target = target
        self._interrogation = _interrogation(arguments, target, self._planner)

    def go(self, folder: Path, journal: Journal, began: float) -> Ended:
        """Interrogate, and save and print what was learned.

        Raises:
            AgentFailed: before there was anything to learn.
        """
        arguments, target, clock = self._arguments, self.target, Clock()
        result, failure, agent = _interrogated(arguments, self._interrogation, target, journal, clock)
        if failure is not None and not journal.rows():
            raise failure
        test, own = image_test(target.agent), arguments.classifiers
        if strange := told_unlike(unlike(target.agent), target.problems, target.name):
            warnings.warn(strange, AamWarning, stacklevel=2)
        result = replace(result, untested=untested(own, test), seen=seen(own, test))
        if not strange and goes_on(arguments, target, result):
            further = self._further(result, agent, folder, journal, began)
            if isinstance(further, Ended):
                return further
            if isinstance(further, Result):
                result, failure = further, None
            else:
                assert result.diagnosis is not None, "it was gone on from that"
                result = replace(result, diagnosis=replace(result.diagnosis, further=further))
        if result.diagnosis is not None and not (result.invented or result.changed):
            result = replace(result, diagnosis=with_other_cause(result.diagnosis, own, test, strange))
        times = {
            "wall_s": round(perf_counter() - began, 3),
            "cpu_s": round(cpu_seconds(), 3),
            "interrogation_s": round(clock.seconds, 3),
            "planner_s": round(self._planner.seconds, 3),
            "perception_s": target.perception_s(),
        }
        model = domain_text(result.model)
        told = summary(arguments, target, result, times, self._interrogation.prior, partial(images, journal))
        truth = None if target.truth is None else domain_text(target.truth())
        save(folder, journal, model, told, lines(told, result), truth)
        status = str(told["status"])
        final = failure is None or failure.contradicted  # then the same answers would be the same again
        if result.not_strips:
            assert result.diagnosis is not None, "only then it is accused"
            why = accusation(result.diagnosis.why, result.diagnosis.otherwise)
            return Ended(status, final, why, exit_code(NOT_STRIPS))
        if result.suspected:
            return Ended(status, final, f"{result.missing}; what was learned is saved in {folder}")
        if failure is not None:
            return Ended(status, final, str(failure), exit_code(FAILED))
        return Ended(status, final)

    def _further(
        self, result: Result, agent: JournalledAgent, folder: Path, journal: Journal, began: float
    ) -> Ended | Result | str:
        """Go on from a diagnosis: learn outcomes and cases, save and print them; or with something invented; or why that explains nothing."""
        arguments, target, after = self._arguments, self.target, agent.exchanges
        assert result.diagnosis is not None, "it goes on from that"
        recorded, why = RecordingAgent(agent, result.transcript), list[str]()
        if target.truth is None and can_renew(result):
            return self._renewed(recorded, result, agent, journal)
        if _learns_outcomes(target, result):
            options = options_of(arguments, self._interrogation.budget.resources)
            what = f"{result.diagnosis.why}: going on with outcomes, when each comes, and how often"
            journal.note(WENT_ON, {"after": after, "explained": True})
            watch = progress_of(arguments, options, what)
            found = go_on(recorded, result, np.random.default_rng(arguments.seed), options, watch)
            if not found.contradicted:
                told = figures(arguments, target, found, None, result, perf_counter() - began)
                return finish(folder, journal, target, found, told)
            taken = counted(found.counts.steps - result.counts.steps, "further step")
            why.append(f"Outcomes and cases do not explain it either ({taken}): {found.why}.")
        journal.note(WENT_ON, {"after": after, "explained": False})
        if target.truth is None and can_remember(result):
            made = recorded.counts.steps
            if not arguments.quiet:
                Progress().stage(f"{result.diagnosis.why}: going on with what may be remembered")
            rng, budget = np.random.default_rng(arguments.seed), self._interrogation.budget
            remembered: Remembered | str
            try:
                remembered = remember(recorded, result, rng, budget, arguments.exam)
            except AgentFailed as error:
                remembered = f"the agent failed meanwhile ({error})"
            if isinstance(remembered, Remembered):
                fact = remembered.fact.json()
                journal.note(WENT_ON, {"after": after, "explained": True, "fact": fact})
                return remembered.result
            taken = counted(recorded.counts.steps - made, "further step")
            why.append(f"No model with memory was found ({taken}): {remembered}.")
        return " ".join(why)

    def _renewed(
        self, recorded: RecordingAgent, result: Result, agent: JournalledAgent, journal: Journal
    ) -> Result | str:
        """Learn an agent that has changed as it is now; or why that was not possible."""
        arguments, after = self._arguments, agent.exchanges
        assert result.diagnosis is not None, "it goes on from that"
        journal.note(WENT_ON, {"after": after, "explained": False})
        if not arguments.quiet:
            Progress().stage(f"{result.diagnosis.why}: going on with the agent as it is now")
        rng, budget = np.random.default_rng(arguments.seed), self._interrogation.budget
        try:
            found = renew(recorded, result, rng, budget, arguments.exam)
        except AgentFailed as error:
            found = f"the agent failed meanwhile ({error})"
        if isinstance(found, Result):
            journal.note(WENT_ON, {"after": after, "explained": True, "anew": True})
            return found
        taken = counted(recorded.counts.steps, "further step")
        return f"No model of the agent as it is now was found either ({taken}): {found}."


def goes_on(arguments: Arguments, target: Target, result: Result) -> bool:
    """Whether a run goes on from its diagnosis: states are told, or read well, and nothing was asked for that only STRIPS has."""
    only = (
        "policy", "prior", "repeated_arguments", "refusal_rate", "flip_rate", "cache", "write_ppo", "confirm",
    )  # fmt: skip
    test = image_test(target.agent)
    if options_given(arguments, *only) or (test is not None and test.exact < READ_WELL * test.images):
        return False
    return _learns_outcomes(target, result) or (
        target.truth is None and (can_remember(result) or can_renew(result))
    )


def _learns_outcomes(target: Target, result: Result) -> bool:
    """Whether it goes on to outcomes: where pictures are read, all unseen ones were read exactly, as what is seldom misread would be an outcome."""
    test = image_test(target.agent)
    return can_go_on(result) and (test is None or test.passed)


def _interrogation(arguments: Arguments, target: Target, planner: Planner) -> Interrogation:
    """How the options say that the agent is interrogated.

    Raises:
        UnusableInput: they do not fit the agent.
    """
    resources = Resources(arguments.max_seconds, MEGABYTES)
    return Interrogation(
        target.agent,
        policy=arguments.policy,
        planner=planner,
        prior=_prior(arguments, target),
        budget=Budget(arguments.max_queries, arguments.max_steps, resources),
        repeated=arguments.repeated_arguments,
        confidence=arguments.confidence,
        confirm=arguments.confirm,
        exam=arguments.exam,
        copies=target.copies,
        write_ppo=arguments.write_ppo,
    )


def _prior(arguments: Arguments, target: Target) -> Model | None:
    """The model learned earlier, if there is one.

    Raises:
        UnusableInput: the file cannot be used, or is a model of another agent.
    """
    if arguments.prior_model is None:
        return None
    model = read_domain(arguments.prior_model)
    check_prior(model, target.agent.vocabulary, target.agent.headers, arguments.prior)
    return model


def _interrogated(
    arguments: Arguments, interrogation: Interrogation, target: Target, journal: Journal, clock: Clock
) -> tuple[Result, Interrupted | None, JournalledAgent]:
    """The result, what ended the interrogation early, if anything, and the agent, whose exchanges are in the journal."""
    announced = AnnouncedAgent(target.agent, lambda text: display.announce(text))
    agent = JournalledAgent(announced, journal, target.generators, target.crew)
    interrogation = replace(interrogation, agent=agent)
    sights = Sights(journal.path.parent, agent.image) if arguments.images and target.keep_images else None
    with Display(quiet=arguments.quiet, sights=sights) as display:

        def watch(move: Move, evidence: Evidence, counting: CountingAgent) -> None:
            if agent.live:
                display.watch(move, evidence, counting)

        def watch_trial(proposal: Proposal, assessment: Assessment, counting: CountingAgent) -> None:
            if agent.live:
                display.watch_trial(proposal, assessment, counting)

        seed, problems = arguments.seed, ", ".join(target.problems)
        display.say(f"Interrogating {target.name} (problems {problems}), seed {seed}")
        if agent.recorded:
            display.say(f"Going on after {agent.recorded} recorded exchanges, which are not made again")
        try:
            with clock:
                result = interrogation.run(
                    np.random.default_rng(seed), record=agent, observer=Observer(watch, watch_trial)
                )
        except Interrupted as error:
            return error.result, error, agent
        except AccessViolation as error:
            if agent.live:
                raise
            raise UnusableInput(f"{journal.path}: not a transcript of such a run ({error})") from None
    return result, None, agent
