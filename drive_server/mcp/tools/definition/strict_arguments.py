"""Check the arguments of a tool before it runs: those of its schema, and no others."""

from collections.abc import Callable
from typing import Any, Final

from mcp.server.fastmcp.utilities.func_metadata import FuncMetadata
from pydantic import ValidationError

from drive_server.kernel.errors import InvalidInputError
from drive_server.mcp.lean_results import with_optional_fields

MAX_COMPLAINTS = 10
MAX_NAME_CHARACTERS = 64
EARLIER_NAMES: Final = {"parent_id": "folder_id"}
"""Arguments that had another name before 1.0, and are taken by it until the version after; no schema lists them."""

ERROR_PROPERTIES: Final[dict[str, Any]] = {
    **{name: {"type": "string"} for name in ("code", "message", "hint")},
    "details": {"type": "object", "additionalProperties": True},
}


class StrictArguments(FuncMetadata):
    """Takes the arguments as the schema states them, and no others."""

    async def call_fn_with_arg_validation(
        self,
        fn: Callable[..., Any],
        fn_is_async: bool,
        arguments_to_validate: dict[str, Any],
        arguments_to_pass_directly: dict[str, Any] | None,
    ) -> Any:
        """Check the arguments and run the tool. Raises `InvalidInputError`, which names the problems."""
        del fn_is_async  # every tool here is
        arguments = self._with_present_names(arguments_to_validate)
        self._refuse_unknown(arguments)
        try:
            parsed = self.arg_model.model_validate(arguments)
        except ValidationError as error:
            raise _wrong_arguments(error) from error
        return await fn(**parsed.model_dump_one_level(), **(arguments_to_pass_directly or {}))

    def convert_result(self, result: Any) -> Any:
        """Return the tool's result: it was built from the output model already."""
        return result

    def _with_present_names(self, arguments: dict[str, Any]) -> dict[str, Any]:
        fields = self.arg_model.model_fields
        renamed = {
            old: new
            for old, new in EARLIER_NAMES.items()
            if old in arguments and old not in fields and new in fields and new not in arguments
        }
        return {renamed.get(name, name): value for name, value in arguments.items()}

    def _refuse_unknown(self, arguments: dict[str, Any]) -> None:
        fields = self.arg_model.model_fields
        unknown = sorted(name[:MAX_NAME_CHARACTERS] for name in arguments if name not in fields)[:MAX_COMPLAINTS]
        if unknown:
            raise InvalidInputError(
                f"There is no argument {', '.join(unknown)}.",
                hint=f"The arguments are: {', '.join(fields) or 'none'}.",
                details={"unknown": unknown},
            )


def strict(metadata: FuncMetadata) -> StrictArguments:
    """Return the same function's metadata with strict arguments."""
    return StrictArguments(
        arg_model=metadata.arg_model,
        output_schema=_or_an_error(with_optional_fields(metadata.output_schema or {})),
        output_model=metadata.output_model,
    )


def _or_an_error(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of answers that may be an error instead."""
    alternatives = [{"required": schema.get("required", [])}, {"required": list(ERROR_PROPERTIES)}]
    answer = {key: value for key, value in schema.items() if key != "required"}
    return {**answer, "properties": {**schema.get("properties", {}), **ERROR_PROPERTIES}, "anyOf": alternatives}


def _wrong_arguments(error: ValidationError) -> InvalidInputError:
    complaints = [
        {"argument": _place(found["loc"]), "problem": found["msg"]}
        for found in error.errors(include_url=False, include_context=False, include_input=False)[:MAX_COMPLAINTS]
    ]
    text = "; ".join(f"{complaint['argument']}: {complaint['problem']}" for complaint in complaints)
    return InvalidInputError(f"{text}.", hint="Correct the arguments.", details={"errors": complaints})


def _place(location: tuple[int | str, ...]) -> str:
    return ".".join(str(part)[:MAX_NAME_CHARACTERS] for part in location)
