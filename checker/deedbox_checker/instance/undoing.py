"""Which outcomes have done what was asked: an undo with another has given nothing back."""

from __future__ import annotations

from deedbox_dsl import core


def done(spec: core.Machine) -> frozenset[tuple[str, str]]:
    """The pairs of command and outcome after which the command is not asked again."""
    return frozenset(
        (command.name, outcome.name)
        for command in spec.commands
        for outcome in command.outcomes
        if not asked_again(spec, command.name, outcome.name)
    )


def issues(body: core.Body | None, command: str) -> bool:
    return body is not None and any(
        isinstance(issue, core.Do | core.Repeat) and issue.command == command
        for issue in body.issues
    )


def asked_again(spec: core.Machine, command: str, outcome: str) -> bool:
    """Whether after this outcome the same command is asked again: it has done nothing."""
    answered = [
        clause
        for clause in spec.clauses
        if clause.trigger == core.OnOutcome(command, outcome)
        and clause.body is not None
    ]

    def retried(clause: core.Clause) -> bool:
        if clause.body is None or issues(clause.body, command):
            return True
        match clause.body.exit:
            case core.Goto(state=state):
                waiting = state
            case core.Stay() | core.Reject():
                waiting = clause.state
        return any(
            issues(other.body, command)
            for other in spec.clauses
            if other.state == waiting and isinstance(other.trigger, core.AtDeadline)
        )

    return bool(answered) and all(retried(clause) for clause in answered)
