# The compiled extension. cffi knows its types only at run time; native/__init__.py is the one place that uses it.

from typing import Any

ffi: Any
lib: Any
