"""After the cure torchvision can be imported, before or after torch."""

import subprocess
import sys


def test_torchvision_is_imported_in_a_fresh_interpreter():
    code = (
        "from aam_vision.classifiers.torchvision_cure import cure_torchvision as cure\n"
        "kept = cure()\n"
        "assert cure() is kept\n"
        "import torchvision, torch\n"
        "from torchvision.transforms.v2 import functional\n"
        "print(tuple(functional.gaussian_blur(torch.zeros(3, 8, 8), [3, 3]).shape))\n"
    )
    done = subprocess.run(
        [sys.executable, "-W", "error::RuntimeWarning", "-c", code],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "(3, 8, 8)"
