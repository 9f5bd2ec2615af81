"""numba without ``.numba_config.yaml`` of the working directory: in a hostile job's folder it names the folder from
which numba unpickles compiled functions. Environment variables (NUMBA_*) still count.
"""  # noqa: D205 one reason, in two lines

from typing import Any, cast

from numba.core import config

cast("Any", config)._config_fname = ""  # noqa: SLF001 numba has no setting for it; "" is no file
cast("Any", config).reload_config()
