"""Reads a TOML file of a problem's folder into its schema."""

import tomllib
from collections.abc import Mapping
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from kernelmill.problems.errors import ProblemFormatError, fields_of

Schema = TypeVar("Schema", bound=BaseModel)


def read_toml(schema: type[Schema], files: Mapping[str, bytes], path: str) -> Schema:
    """Return the content of a file.

    Raises:
        ProblemFormatError: it is no TOML, or does not follow the schema; the message names the fields.
    """
    try:
        return schema.model_validate(tomllib.loads(files[path].decode()))
    except ValidationError as error:
        raise ProblemFormatError(path, fields_of(error)) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ProblemFormatError(path, str(error)) from error
