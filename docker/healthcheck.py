"""Exit 0 when the app in this container can answer, 1 when it cannot; says why on stdout. Needs no package.

python healthcheck.py [URL]
"""

import json
import sys
import urllib.error
import urllib.request

URL = "http://127.0.0.1:7860/healthz"
SECONDS = 8

# A proxy of the environment is for the outside; this never leaves the container.
_direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def look(url: str) -> tuple[bool, str]:
    """Whether all is well, and what the app says, in one line."""
    try:
        with _direct.open(url, timeout=SECONDS) as answer:
            said = json.load(answer)
    except urllib.error.HTTPError as error:
        return False, f"{error.code} {error.read(500).decode(errors='replace')}"
    except (OSError, ValueError) as error:
        return False, f"no answer: {error}"
    return isinstance(said, dict) and said.get("status") == "ok", json.dumps(said)


if __name__ == "__main__":
    well, said = look(sys.argv[1] if len(sys.argv) > 1 else URL)
    print(said)
    sys.exit(0 if well else 1)
