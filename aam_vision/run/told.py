"""A run that knows the agent's instructions, the most usual kind: ``python -m aam_vision.run``."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from time import perf_counter

import numpy as np

from aam_vision.agents.counting import CountingAgent
from aam_vision.agents.decorator import AnnouncedAgent
from aam_vision.agents.image import image_test, unlike
from aam_vision.agents.journal import AS_READ, REFUSALS, WENT_ON, Journal
from aam_vision.agents.journalled import JournalledAgent
from aam_vision.interrogation.chance.interrogating import Watch
from aam_vision.interrogation.chance.result import ChanceResult
from aam_vision.interrogation.evidence.graph import Evidence
from aam_vision.interrogation.evidence.moves import Move
from aam_vision.interrogation.going_on import ALL, Attempt, attempts, go_further
from aam_vision.interrogation.memory.diagnosed import Further, Way
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
from aam_vision.run.checks import names_given, options_given
from aam_vision.run.folder import keep_transcript, save
from aam_vision.run.labelling_note import seen, told_unlike, untested, with_other_cause
from aam_vision.run.summary import Ended, accusation, exit_code, lines, summary
from aam_vision.run.targets import Target
from aam_vision.support.commandline import Progress, check_writable
from aam_vision.support.errors import AamWarning, AccessViolation, UnusableInput
from aam_vision.support.resources import MEGABYTES, Resources

AT_WORK = "still making histories that tell what explains it"


class ToldRun:
    """A run whose instructions are told. Raises UnusableInput: the agent or an option cannot be used."""

    def __init__(self, arguments: Arguments, planner: Planner, target: Target) -> None:
        if arguments.write_ppo is not None:
            check_writable(arguments.write_ppo, "--write-ppo")
        self._arguments = arguments
        self._planner = TimedPlanner(planner)
        self.target = target
        self._interrogation = _interrogation(arguments, target, self._planner)
        self._names = names_given(arguments)
        for name in self._names.values():
            _check_unused(name, target)

    def go(self, folder: Path, journal: Journal, began: float) -> Ended:
        """Interrogate, and save and print what was learned. Raises AgentFailed: before there was anything to learn."""
        arguments, target, clock = self._arguments, self.target, Clock()
        result, failure, agent = _interrogated(arguments, self._interrogation, target, journal, clock)
        if failure is not None and not journal.rows():
            raise failure
        test, own = image_test(target.agent), arguments.classifiers
        if strange := told_unlike(unlike(target.agent), target.problems, target.name):
            warnings.warn(strange, AamWarning, stacklevel=2)
        result = replace(result, untested=untested(own, test), seen=seen(own, test))
        further, diagnosed = None, result.diagnosed
        if diagnosed is not None and not strange and (among := goes_on(arguments, target, diagnosed)):
            further = self._further(diagnosed, agent, journal, among)
        self._warn_of_names(further)
        if further is not None:
            if further.found is not None:
                result, failure = replace(further.found, seen=result.seen), None
                if further.looking is not None and further.transcript is not None:
                    keep_transcript(folder / AS_READ, further.transcript)
                if isinstance(found := result.outcomes, ChanceResult):
                    wall_s, invented = perf_counter() - began, result.invented
                    looking = further.looking
                    told = figures(arguments, target, found, looking, diagnosed, wall_s, invented)
                    return finish(folder, journal, target, found, told)
            else:
                assert result.diagnosis is not None, "it was gone on from that"
                result = replace(result, diagnosis=replace(result.diagnosis, further=further.why))
        if result.diagnosis is not None and not (further and further.found):
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

    def _warn_of_names(self, further: Further | None) -> None:
        """Warn of names that were given to what was not invented."""
        called = further.fact.predicate.name if further and further.fact else None
        for usual, given in self._names.items():
            if given != called:
                told = f"--name {usual}={given}: nothing was invented that is called {usual}"
                warnings.warn(told, AamWarning, stacklevel=2)

    def _further(
        self, result: Result, agent: JournalledAgent, journal: Journal, among: Sequence[Way]
    ) -> Further:
        """Go on from a diagnosis, and note in the journal how far that came."""
        arguments, resources, after = self._arguments, self._interrogation.budget.resources, agent.exchanges
        assert result.diagnosis is not None, "it goes on from that"
        options, why, progress = options_of(arguments, resources), result.diagnosis.why, Progress()
        looked: dict[str, object] = {"looked": True} if result.looks_err else {}

        def begins(attempt: Attempt) -> Watch | None:
            nonlocal after
            if attempt.way is Way.ANEW:  # what was tried before counts no more, either
                after = agent.exchanges
            outcomes = attempt.way is Way.OUTCOMES
            more = {"constants": dict(attempt.constants)} if attempt.constants else {}
            journal.note(WENT_ON, {"after": after, "explained": outcomes, **more, **looked})
            if outcomes:
                journal.note(REFUSALS, list(attempt.refusals))
                return progress_of(arguments, options, f"{why}: going on with {attempt}", progress)
            if not arguments.quiet:
                progress.stage(f"{why}: going on with {attempt}")
            return None

        budget, exam = self._interrogation.budget, arguments.exam
        with progress.never_silent(AT_WORK, quiet=arguments.quiet):
            seed, names = arguments.seed, self._names
            further = go_further(agent, result, seed, options, budget, exam, among, begins, names)
        if (found := further.found) is None:
            journal.note(WENT_ON, {"after": after, "explained": False})
        elif found.outcomes is None:  # else it was noted when it began
            journal.note(WENT_ON, {"after": after, "explained": True, **further.json(), **looked})
        return further


def _check_unused(name: str, target: Target) -> None:
    """Refuse a name for what is invented that a predicate has, or that the objects for numbers would share with others."""
    if name in {predicate.name for predicate in target.agent.vocabulary.predicates}:
        raise UnusableInput("is a predicate already; give another name", "name", name)
    for one in (one for situation in target.agent.initial() for one in situation.state.objects):
        if one.startswith(f"{name}-"):
            raise UnusableInput(f"is how objects are called already, {one}; give another name", "name", name)


def goes_on(arguments: Arguments, target: Target, result: Result) -> Sequence[Way]:
    """With what a run goes on from its diagnosis: nothing, if something was asked for that only STRIPS has."""
    only = "policy", "prior", "repeated_arguments", "refusal_rate", "cache", "write_ppo"
    if options_given(arguments, *only):
        return []
    among = ALL if target.truth is None else (Way.OUTCOMES,)
    return among if attempts(target.agent, result, among) else ()


def _interrogation(arguments: Arguments, target: Target, planner: Planner) -> Interrogation:
    """How the options say that the agent is interrogated."""
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
    """The model learned earlier, if there is one."""
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
        if target.set_up is not None and not arguments.quiet:
            target.set_up.tell = display.ask

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
