"""What an agent has to be for its outcomes to be learned: told in full, and constant."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from sys import maxsize

from aam_vision.agents.counting import Counts
from aam_vision.interrogation.chance.conditions import MOST
from aam_vision.interrogation.chance.constancy import Difference, Split
from aam_vision.interrogation.chance.graph import MAX_BINDINGS, MAX_STATES, StateGraph, StepTable
from aam_vision.interrogation.chance.knowledge import ActionKnowledge
from aam_vision.interrogation.hypotheses.literals import bits
from aam_vision.model.query import Situation
from aam_vision.support.errors import InconsistentAgent, UnusableInput
from aam_vision.support.wording import counted, some

_COUNTED = {
    "attempts": "{} steps of all actions, refused ones included",
    "steps": "{} steps of all actions",
    "since": "{} steps since the agent was put where it began",
    "turn": "{} steps of it with the same objects",
}


def check_constant(actions: Iterable[ActionKnowledge], *, early: bool = False) -> None:
    """Raises InconsistentAgent if an outcome's frequency surely changes with what cases cannot say.

    ``early``: while the agent is asked, when it is looked on what the outcomes depend; only what no more trials will explain counts.
    """
    for action in actions:
        if early and not (action.looked and action.settled):
            continue
        action.reconsider()
        _check_action(action)


def _check_action(action: ActionKnowledge) -> None:
    name, names = action.index.header.name, action.index.header.parameters
    for case in action.cases:
        if (found := case.difference) is not None and found.sure:
            raise InconsistentAgent(f"how often an outcome of {name} comes {_told(action, found)}")
    if action.dependence.unexplained:
        atom = action.index.atom(action.dependence.differing).text(names)
        raise InconsistentAgent(
            f"how often an outcome of {name} comes depends on {atom} and on more than {MOST} atoms in all, or on time"
        )


def _told(action: ActionKnowledge, found: Difference) -> str:
    """With what an outcome's frequency differs, with its limits in both groups of trials."""
    names = action.index.header.parameters
    one, other = (f"{100 * low:.0f}-{100 * high:.0f}%" for low, high in (found.one, found.other))
    match found.by:
        case Split(first=int(first)):
            return f"has changed: {one} of the first {first} trials, {other} since"
        case Split(after=(1, _)):
            return (
                f"depends on what the trial before came to, or on something that lasts and is not named: {one} right after "
                f"one of the outcomes, {other} after the others"
            )
        case Split(after=(int(back), _)):
            return f"depends on what came {back} steps before: {one} after one of the outcomes, {other} after the others"
        case Split(phase=(int(length), _), counted=str(counted)):
            what = _COUNTED[counted].format(length)
            return f"goes in cycles of {what}: {one} in one of them, {other} in the others"
        case Split(begun=int(begun)):
            steps = "the first step" if begun == 1 else f"the first {begun} steps"
            return f"depends on how long ago the agent was put where it began: {one} in {steps} since, {other} later"
        case Split(phase=(int(length), _)):
            return f"goes in cycles of {length} steps: {one} in one of them, {other} in the others"
        case Split(before=str()):
            return f"depends on whether {found.by.text(names, ())}: {one} if so, {other} if not"
        case Split(named=(int(argument), str(object_))):
            return f"depends on which object ?{names[argument]} is: {one} with {object_}, {other} with others"
        case Split(fact=str()):
            fact = found.by.text(names, action.index.atoms)
            return f"differs with {fact}, of which its instruction does not name the objects: {one} where it holds, {other} elsewhere"
        case Split(atom=int(atom)):
            text = action.index.atoms[atom].text(names)
            return f"depends on {text}: {one} of the time where it holds, {other} elsewhere"
    raise AssertionError(found.by)


def beside_own(action: ActionKnowledge) -> str:
    """In a line, which facts an action changes of which its instruction does not name the objects, and what would; empty if none."""
    name, names, told = action.index.header.name, action.index.header.parameters, list[str]()
    for effect, (made, example) in action.side_effects.items():
        kinds = dict.fromkeys(one for one in effect.arguments if isinstance(one, str))
        cure = f", which a parameter of type {' and one of type '.join(kinds)} would name" if kinds else ""
        told.append(
            f"{effect.text(names)} (in {made} of {counted(action.executed, 'step')}, {example} first){cure}"
        )
    return f"{name} also brings about {some(told, 3)}" if told else ""


def _doubted(actions: Iterable[ActionKnowledge]) -> str:
    """In a line, the first action whose outcomes may not come equally often, where trials did not settle it; empty if there is none."""
    for action in actions:
        for case in action.cases:
            if case.difference is not None:
                told = _told(action, case.difference)
                return f"it was not settled whether how often an outcome of {action.index.header.name} comes {told}"
    return ""


def unsettled_dependence(actions: Iterable[ActionKnowledge]) -> str:
    """In a line, the first action whose outcomes may depend on atoms of which that was not settled; empty if there is none."""
    for action in actions:
        if mask := action.unsettled:
            index = action.index
            atoms = " and ".join(index.atom(bit).text(index.header.parameters) for bit in bits(mask))
            return f"whether what {index.header.name} does depends on {atoms} was not settled by the trials given to that"
    return ""


def _not_considered(actions: Sequence[ActionKnowledge], steps: StepTable, graph: StateGraph | None) -> str:
    """In a line, what there would be to try that was not considered, for there is too much of it; empty if there is nothing."""
    for number, choices in steps.cut.items():
        name = actions[number].index.header.name
        return f"of {choices} choices of arguments of {name} only the first {MAX_BINDINGS} were considered in a situation"
    if graph is None or graph.complete:
        return ""
    return f"no step tells any more in the {MAX_STATES} nearest situations; there are more, which were not considered"


def ending(
    actions: Sequence[ActionKnowledge], steps: StepTable, graph: StateGraph | None
) -> tuple[bool, str]:
    """Whether anything is left open where nothing seems worth a step, and in a line what, or what the interrogation has come to.

    ``graph``: the situations that can be reached; None where situations are made for what is open.
    """
    missing = [told for one in actions if (told := beside_own(one))]
    if never := [one.index.header.name for one in actions if not one.executed]:
        missing.insert(0, f"never executed: {some(never, 3)}")
    if (
        left := "; ".join(missing)
        or unsettled_dependence(actions)
        or _doubted(actions)
        or _not_considered(actions, steps, graph)
    ):
        return True, left
    told = "no step that can be reached tells any more"
    wide = [one.index.header.name for one in actions if one.executed and one.wide]
    if not wide:
        return False, f"{told}, and every interval is narrow enough"
    return (
        False,
        f"{told}; intervals of {', '.join(wide)} stay wider than wanted, for no more trials can be reached",
    )


def steps_left(counts: Counts, max_steps: int | None, max_queries: int | None) -> int:
    """The steps that may be taken, each in a query of its own, where both are limited, one, or none."""
    limits = (max_steps, counts.steps), (max_queries, counts.queries)
    return min((limit - made for limit, made in limits if limit is not None), default=maxsize)


def spent(counts: Counts, max_queries: int | None) -> str:
    """That a budget of queries or steps ended an interrogation, in a line."""
    queries = max_queries is not None and counts.queries >= max_queries
    number, what = (counts.queries, "query") if queries else (counts.steps, "step")
    return f"{counted(number, what)} {'was' if number == 1 else 'were'} allowed"


def check_known(situations: Iterable[Situation]) -> None:
    """Raises UnusableInput if the agent does not say of every atom of its first situations whether it is true."""
    for situation in situations:
        if situation.state.unknown:
            atom = min(map(str, situation.state.unknown))
            raise UnusableInput(
                f"an agent with chance has to say of every atom of its first situation whether it is true; it leaves out {atom}"
            )
