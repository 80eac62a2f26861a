"""Names across files: modules, imports, types, policies, and whom one may `tell`.

`resolve` asks `imports` for what each module declares and imports, and `declared` for
its types, and gives each module its `Scope`.  A name that does not resolve becomes the
error type (or None for a policy) and is reported once, here; nothing that touches it
is reported again.
"""

from .resolve import resolve
from .scope import Resolution, Scope, Signature, to_import
from .work import module_name
from .written import resolve_type

__all__ = [
    "Resolution",
    "Scope",
    "Signature",
    "module_name",
    "resolve",
    "resolve_type",
    "to_import",
]
