"""`deploy/kafka/broker.py`, which starts a real broker, and the package `deploy`: imported from
where they stand.

The root of the project is not on the path of the tests, or `import detector` would find a second
copy of `reusewatch.detector`.
"""

from __future__ import annotations

import importlib.util
import sys
from types import ModuleType

from tests.command import ROOT

# For `import deploy.watching`, whether or not the root is on the path.
_deploy = ModuleType("deploy")
_deploy.__path__ = [str(ROOT / "deploy")]
sys.modules.setdefault("deploy", _deploy)

_spec = importlib.util.spec_from_file_location(
    "deployed_broker", ROOT / "deploy" / "kafka" / "broker.py"
)
assert _spec is not None
assert _spec.loader is not None
_module = importlib.util.module_from_spec(_spec)
sys.modules[_spec.name] = _module  # dataclasses look their module up
_spec.loader.exec_module(_module)

Broker = _module.Broker
Listener = _module.Listener
BrokerFailed = _module.BrokerFailed
DIE_WITH_PARENT = _module.DIE_WITH_PARENT
free_port = _module.free_port
java = _module.java
quorum = _module.quorum
