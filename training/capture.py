"""``python -m aam_vision.training.capture``: pictures of a camera, taken while somebody moves things about.

A picture is kept once nothing moves any more, and unless it shows the same as the last one that was kept: a sensor's noise makes no
difference. Only light modules are imported here, so that ``--help`` answers at once.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import sleep
from typing import TYPE_CHECKING, Annotated, Final

import typer

from aam_vision.support.commandline import Progress, check_writable, run_command, write_atomically
from aam_vision.support.errors import UnusableInput
from aam_vision.support.wording import counted

if TYPE_CHECKING:
    from aam_vision.agents.perception import Frame

LOST: Final = 20
"""Looks in a row at which a camera may show nothing."""


def capture(
    camera: Annotated[
        str, typer.Option(help="A number (0 is the first camera), a URL, a video, or a folder of *.png.")
    ],
    out: Annotated[Path, typer.Option(help="Folder for the pictures.")],
    pictures: Annotated[int, typer.Option(min=1, help="Pictures to take at most.")] = 300,
    every: Annotated[
        float, typer.Option(min=0, help="Seconds between two looks; no wait in videos and folders.")
    ] = 0.3,
) -> None:
    """Take pictures of whatever stands still before a camera, each situation once, until Ctrl-C or enough are taken.

    Pictures that are in the folder already stay; further ones are added.

    Examples:
        python -m aam_vision.training.capture --camera 0 --out pics
        python -m aam_vision.training.capture --camera recorded.mp4 --out pics
    """
    from aam_vision.support.pictures import encode

    check_writable(out)
    out.mkdir(parents=True, exist_ok=True)
    progress, taken = Progress(), 0
    progress.stage(f"{camera}: move things, and take your hands away; Ctrl-C ends this")
    with opened(camera, every) as looks:
        for frame in still(looks):
            number = len(list(out.glob("*.png"))) + 1
            while (path := out / f"{number:04d}.png").exists():
                number += 1
            write_atomically(path, encode(frame))
            taken += 1
            progress.step(taken, pictures, path.name)
            if taken == pictures:
                break
    progress.stage(f"{counted(taken, 'picture')} taken, in {out}")


def still(looks: Iterator[Frame]) -> Iterator[Frame]:
    """The looks after which nothing has changed, without those that show the same as the last of these."""
    from aam_vision.support.noise import only_noise

    before, kept = None, None
    for frame in looks:
        stands = before is not None and only_noise(before, frame)
        if stands and (kept is None or not only_noise(kept, frame)):
            kept = frame
            yield frame
        before = frame


@contextmanager
def opened(camera: str, every: float) -> Iterator[Iterator[Frame]]:
    """The looks of a camera, for as long as the context lasts; those of a folder are its pictures, by name, each twice.

    Raises:
        UnusableInput: there is no such camera or folder, OpenCV is missing; or, while looking, the camera stops.
    """
    if Path(camera).is_dir():
        yield _of_folder(Path(camera))
        return
    try:
        import cv2
    except ImportError:
        raise UnusableInput("cameras and videos need OpenCV: pip install 'aam-vision[camera]'") from None
    source = cv2.VideoCapture(int(camera) if camera.isdecimal() else camera)
    try:
        if not source.isOpened():
            raise UnusableInput(
                "cannot be opened; name a number, a URL, a video or a folder", "camera", camera
            )
        recorded = Path(camera).is_file()
        yield _of_camera(source, camera, 0.0 if recorded else every, recorded=recorded)
    finally:
        source.release()


def _of_folder(folder: Path) -> Iterator[Frame]:
    from aam_vision.training.folder import read_image

    files = sorted(path for path in folder.iterdir() if path.suffix.lower() == ".png")
    if not files:
        raise UnusableInput("holds no picture; put RGB images in it, as *.png", "camera", folder)
    for path in files:
        frame = read_image(path)
        yield frame
        yield frame


def _of_camera(source: object, camera: str, every: float, *, recorded: bool) -> Iterator[Frame]:
    lost = 0
    while lost < LOST:
        there, frame = source.read()  # type: ignore[attr-defined]  # OpenCV has no types
        if there:
            lost = 0
            yield frame[:, :, ::-1].copy()  # blue comes first there
        elif recorded:
            return
        else:
            lost += 1
        sleep(every)
    raise UnusableInput(
        "shows nothing any more; look at its cable, and give the same command once more", "camera", camera
    )


if __name__ == "__main__":
    sys.exit(run_command(capture))
