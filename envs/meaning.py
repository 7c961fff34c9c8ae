"""The meaning of an instruction to a Gymnasium environment, as the user says it.

Gymnasium has no word for "could not": whatever an environment is told, it makes a step. So the user says for every
instruction what it stands for, and what tells whether it was carried out: by default, that the image has changed.

An instruction stands for actions of the environment, or for a *policy*, which chooses them: any function of an observation, such as
a trained network. A policy is an option in the sense of Sutton, Precup, Singh (1999): it says where it begins, and when it is done.
"""

from __future__ import annotations

import ctypes
import threading
import weakref
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, wait
from contextlib import suppress
from contextvars import copy_context
from dataclasses import dataclass
from functools import partial
from itertools import product
from queue import SimpleQueue
from typing import Any

import numpy as np

from aam_vision.model.strips import (
    ROOT_TYPE,
    ActionHeader,
    ActionSchema,
    LiftedAtom,
    Model,
    Objects,
    Predicate,
    Vocabulary,
)
from aam_vision.support.errors import RAISED, AamError, UnusableInput, reason

SECONDS = 60.0
"""That one call of a policy may take, where nothing else is said. Longer: less risk of ending a slow one, such as one that is compiled
when it is first called; a run that is stuck is told later."""
MAX_SECONDS = 1e6


def differ(before: Any, after: Any) -> bool:
    """Whether two images or watched values differ."""
    return not np.array_equal(before, after)


def becomes(old: Any, new: Any) -> Callable[[Any, Any], bool]:
    """Whether what is watched went from one value to another, as a condition for ``Instruction.executed``."""
    return lambda before, after: bool((before, after) == (old, new))


def nothing_named(env: Any) -> tuple[str, ...]:
    """What ``Instruction.arguments`` gives where the parameters alone say what is meant: nothing."""
    return ()


@dataclass(frozen=True)
class Instruction:
    """An instruction of the user's and its meaning to the environment: ``actions``, or a ``policy``.

    Args:
        header: its name and parameters, in the user's words.
        actions: the environment's actions it stands for: one, several in order (a list), or a function of
            the arguments that gives either.
        arguments: a function of the environment (``env.unwrapped``): what the parameters stand for at present, as
            far as the agent is concerned - the place where it stands, the one in front of it. One tuple of objects,
            an iterable of several, or None. To be told anything else is not to be understood: nothing happens. What is
            of another type than its parameter drops out. It is to say what words mean, never whether the
            instruction will work: that is what the interrogation finds out.
        watch: a function of the environment: what tells whether the instruction was carried out; the image
            by default.
        executed: of what is watched before and after: whether it was; by default, whether the two differ.
        free: how many of the last parameters ``arguments`` leaves out: they can be any objects of their types.
        policy: chooses the environment's actions one by one: a function of the observation and of the arguments. If it has
            a method ``reset``, that is called before each execution.
        until: of the environment and the arguments: whether the policy is done. It is asked before every action.
        limit: actions of the policy at most. An execution ends when it is done, at the limit, or with the episode; whichever it
            is, it was carried out, and what is true then is what came of it.
        ready: of the environment and the arguments: whether the policy begins at all, by the agent's own judgement. Otherwise
            the instruction is refused. None: it always begins.
        seconds: that one decision may take: whether to begin (``ready``, and the policy's ``reset``), or what to do next (``until``
            and ``policy``). These are called in a thread of their own, one for each problem. None: in the thread of the run,
            without a limit, for functions that depend on the thread in which they were made (as some renderers do).

    Raises:
        UnusableInput: it has both actions and a policy, or neither; or what belongs to the one beside the other.
    """

    header: ActionHeader
    actions: Any = None
    arguments: Callable[[Any], tuple[str, ...] | Iterable[tuple[str, ...]] | None] = nothing_named
    watch: Callable[[Any], Any] | None = None
    executed: Callable[[Any, Any], bool] = differ
    free: int = 0
    policy: Callable[..., Any] | None = None
    until: Callable[..., bool] | None = None
    limit: int | None = None
    ready: Callable[..., bool] | None = None
    seconds: float | None = SECONDS

    def __post_init__(self) -> None:
        name = f"instruction {self.header.name}"
        if (self.actions is None) == (self.policy is None):
            raise UnusableInput(f"{name}: give either actions or a policy")
        usual = None, None, None, SECONDS
        if self.policy is None and (self.until, self.limit, self.ready, self.seconds) != usual:
            raise UnusableInput(
                f"{name}: until, limit, ready and seconds are those of a policy; give one, or leave them out"
            )
        if self.policy is None:
            return
        if not callable(self.policy):
            raise UnusableInput(f"{name}: policy is no function of an observation, but {self.policy!r}"[:200])
        if not callable(self.until) or not isinstance(self.limit, int) or self.limit < 1:
            raise UnusableInput(
                f"{name}: a policy may never end; give until, a function that tells when it is done, and limit, "
                "a number of actions from 1"
            )
        number = isinstance(self.seconds, int | float) and not isinstance(self.seconds, bool)
        if self.seconds is not None and not (number and 0 < self.seconds <= MAX_SECONDS):
            raise UnusableInput(
                f"{name}: seconds is {self.seconds!r}"[:200]
                + f"; give how long one call may take, up to {MAX_SECONDS:g}, or None for no limit"
            )
        if self.watch is not None or self.executed is not differ:
            raise UnusableInput(
                f"{name}: a policy that has begun was carried out; leave out watch and executed, and give ready to say where it begins"
            )

    @property
    def refuses_by_sight(self) -> bool:
        """Whether it counts as refused where the image stays as it was."""
        return self.policy is None and self.watch is None and self.executed is differ

    def steps(self, *objects: str) -> list[Any]:
        """The environment's actions that it stands for, with these arguments."""
        actions = self.actions(*objects) if callable(self.actions) else self.actions
        return actions if isinstance(actions, list) else [actions]

    def meant(self, env: Any) -> list[tuple[str, ...]]:
        """All that the parameters can stand for at present."""
        given = self.arguments(env)
        if given is None:
            return []
        if isinstance(given, tuple) and all(isinstance(one, str) for one in given):
            return [given]
        return [tuple(objects) for objects in given]

    def understood(self, env: Any, known: Objects) -> list[tuple[str, ...]]:
        """The same with the free parameters, among the objects of a scene and of the right types.

        Raises:
            ValueError: ``arguments`` gave a wrong number of objects, or some that the scene lacks.
        """
        settled = self.header.arity - self.free
        found = []
        for objects in self.meant(env):
            if len(objects) != settled or not all(one in known for one in objects):
                raise ValueError(f"gave {objects!r}; give {settled} objects of the scene")
            given = [known.members(kind) for kind in self.header.types[:settled]]
            if all(one in members for one, members in zip(objects, given, strict=True)):
                free = [known.of_type(kind) for kind in self.header.types[settled:]]
                found += [(*objects, *others) for others in product(*free)]
        return found


def instruction(
    text: str,
    actions: Any = None,
    arguments: Callable[[Any], tuple[str, ...] | Iterable[tuple[str, ...]] | None] = nothing_named,
    watch: Callable[[Any], Any] | None = None,
    executed: Callable[[Any, Any], bool] = differ,
    free: int = 0,
    **policy: Any,
) -> Instruction:
    """An ``Instruction`` whose header is given in PDDL's notation: ``move ?from ?to - cell ?dir - direction``.

    ``policy``, ``until``, ``limit``, ``ready`` and ``seconds`` as of ``Instruction``.

    Raises:
        UnusableInput: the text is not a name with typed variables.
    """
    return Instruction(header(text), actions, arguments, watch, executed, free, **policy)


def headers(instructions: Iterable[Instruction]) -> tuple[ActionHeader, ...]:
    """The headers of instructions; UnusableInput if two have one name."""
    found = tuple(instruction.header for instruction in instructions)
    names = [header.name for header in found]
    if len(set(names)) < len(names):
        raise UnusableInput(f"two instructions have one name: {', '.join(names)}; rename one")
    return found


def intended_model(
    vocabulary: Vocabulary,
    instructions: Sequence[Instruction],
    *meant: tuple[str, str],
    partial: bool = False,
) -> Model:
    """The model that the user intends by instructions, for evaluation only.

    Args:
        vocabulary: the words of the model.
        instructions: whose model it is.
        meant: of each instruction what it needs and what it changes: atoms over its parameters, ``at from, -goal to``; a minus sign
            stands before what must be, or becomes, false.
        partial: whether atoms are left out of which the vocabulary has no predicate.
    """
    known = {predicate.name for predicate in vocabulary.predicates}

    def atoms(header: ActionHeader, text: str, *, negative: bool) -> frozenset[LiftedAtom]:
        return frozenset(
            LiftedAtom(name.removeprefix("-"), tuple(header.parameters.index(one) for one in objects))
            for name, *objects in (part.split() for part in text.split(","))
            if name.startswith("-") is negative and (not partial or name.removeprefix("-") in known)
        )

    schemas = []
    for instruction, texts in zip(instructions, meant, strict=True):
        told = instruction.header
        (positive, negative), (add, delete) = (
            (atoms(told, text, negative=False), atoms(told, text, negative=True)) for text in texts
        )
        schemas.append(ActionSchema(told, positive, negative, add, delete))
    return Model(vocabulary, tuple(schemas))


# Predicates and instructions in PDDL's notation: ``lies ?k - key ?at - cell``, ``move ?from ?to - cell``.


def predicate(text: str) -> Predicate:
    """The predicate that a text such as ``lies ?k - key ?at - cell`` declares.

    Raises:
        UnusableInput: the text is not a name with typed variables.
    """
    name, _, types = _parsed(text)
    return Predicate(name, types)


def header(text: str) -> ActionHeader:
    """The instruction that a text such as ``move ?from ?to - cell ?dir - direction`` declares.

    Raises:
        UnusableInput: the text is not a name with typed variables.
    """
    return ActionHeader(*_parsed(text))


def _parsed(text: str) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
    """The name, the variables without their question mark, and their types."""
    name, *words = text.split() or [""]
    variables: list[str] = []
    types: list[str] = []
    untyped = 0
    place = 0
    while place < len(words):
        word = words[place]
        if word.startswith("?") and len(word) > 1:
            variables.append(word[1:])
            untyped, place = untyped + 1, place + 1
        elif word == "-" and untyped and words[place + 1 : place + 2]:
            types += [words[place + 1]] * untyped
            untyped, place = 0, place + 2
        else:
            break
    if not name or name.startswith("?") or place < len(words) or len(set(variables)) < len(variables):
        raise UnusableInput(f"{text!r}: write a name and typed variables, such as 'move ?from ?to - cell'")
    return name, tuple(variables), (*types, *[ROOT_TYPE] * untyped)


# Policies as the user gives them: whether one begins, what it does next, and how its failures are told.


def result_of(name: str, what: str, function: Callable[..., Any], *arguments: Any) -> Any:
    """The result of a user's function; UnusableInput if it raises."""
    try:
        return function(*arguments)
    except RAISED as error:
        raise UnusableInput(f"{name}: {what} raised {reason(error)}; correct it") from error


class Policies:
    """Asks the policies of one problem, each call within the seconds that its instruction allows."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._calls = BoundedCalls()

    def begins(self, instruction: Instruction, told: str, env: Any, objects: tuple[str, ...]) -> bool:
        """Whether a policy begins at all; if so, it is made to forget the last execution.

        Raises:
            UnusableInput: ``ready`` or ``reset`` raises, or does not return in time.
        """
        ready, anew = instruction.ready, getattr(instruction.policy, "reset", None)

        def asked(ask: Callable[[str], None]) -> bool:
            ask(f"ready of {told}")
            if ready is not None and not ready(env, *objects):
                return False
            ask(f"reset of the policy of {told}")
            if callable(anew):
                anew()
            return True

        if ready is None and not callable(anew):
            return True
        return bool(self._asked(instruction, asked))

    def action(
        self, instruction: Instruction, told: str, env: Any, observation: Any, objects: tuple[str, ...]
    ) -> tuple[Any] | None:
        """What a policy does next; None where it is done.

        Raises:
            UnusableInput: ``until`` or the policy raises, or does not return in time.
        """
        policy, until = instruction.policy, instruction.until
        assert policy is not None, "there is one"
        assert until is not None, "every policy has one"

        def asked(ask: Callable[[str], None]) -> tuple[Any] | None:
            ask(f"until of {told}")
            if until(env, *objects):
                return None
            ask(f"policy of {told}")
            return (policy(observation, *objects),)

        found: tuple[Any] | None = self._asked(instruction, asked)
        return found

    def _asked(self, instruction: Instruction, asked: Callable[[Callable[[str], None]], Any]) -> Any:
        """The result of calls of the user's functions, each of which is named before it is made."""
        asking = [""]

        def ask(what: str) -> None:
            asking[0] = what

        try:
            if instruction.seconds is None:
                return asked(ask)
            return self._calls(instruction.seconds, asked, ask)
        except TookTooLong as error:
            raise UnusableInput(
                f"{self._name}: {asking[0]} {error}; correct it, or give its instruction more seconds"
            ) from None
        except RAISED as error:
            raise UnusableInput(f"{self._name}: {asking[0]} raised {reason(error)}; correct it") from error


# Calls of a user's functions that may take so long and no longer: a call that never returns is told, whatever it is stuck in.
#
# It is made in a thread of its own. One that is stuck in Python is ended there: otherwise it would take half of the time of all that
# the process does afterwards. Nothing can end one that is stuck in C code: its thread stays behind, and does not keep the process from
# ending. What keeps Python's lock for ever (a C extension that is stuck and does not let go of it) stops this, too.


class GivenUp(BaseException):
    """Raised in the midst of a call that did not return in time."""


class TookTooLong(AamError):
    """Raised when a call did not return in time; nothing more can be called."""


Call = tuple[Future[Any], Callable[[], Any]]
"""What waits for the result, and what makes it, with the context variables of who asks (NumPy's handling of errors is one)."""


class BoundedCalls:
    """Makes calls one after the other in one thread, which begins with the first of them."""

    def __init__(self) -> None:
        self._calls: SimpleQueue[Call | None] = SimpleQueue()
        self._thread: threading.Thread | None = None
        self._stuck = False

    def __call__(self, seconds: float, function: Callable[..., Any], *arguments: Any) -> Any:
        """The function's result; what it raises is raised here.

        Raises:
            TookTooLong: it did not return within so many seconds, or an earlier call did not.
        """
        if self._stuck:
            raise TookTooLong("an earlier call has not returned")
        if self._thread is None:
            self._thread = threading.Thread(target=_work, args=(self._calls,), daemon=True)
            self._thread.start()
            weakref.finalize(self, self._calls.put, None)
        found: Future[Any] = Future()
        self._stuck = True  # until it has returned: Ctrl-C may come before
        self._calls.put((found, partial(copy_context().run, function, *arguments)))
        if not wait([found], seconds).done:
            thread = ctypes.c_ulong(self._thread.ident or 0)
            ctypes.pythonapi.PyThreadState_SetAsyncExc(thread, ctypes.py_object(GivenUp))
            raise TookTooLong(f"did not return within {seconds:g} s")
        self._stuck = False
        return found.result()


def _work(calls: SimpleQueue[Call | None]) -> None:
    """Make calls until there are no more, or one is given up."""
    with suppress(GivenUp):  # it may come after the call has returned
        while (call := calls.get()) is not None:
            found, made = call
            try:
                found.set_result(made())
            except BaseException as error:
                found.set_exception(error)
            del call, found, made  # nothing of a call is kept until the next one
