"""MOCK's clips in Inspect's log viewer: a real browser plays them, and shows the right frames."""

from __future__ import annotations

import base64
import io
import re
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from inspect_ai import eval as inspect_eval
from inspect_ai.log import EvalLog
from PIL import Image
from playwright.sync_api import Browser, Page
from standins.browser import browser
from standins.mock_clips import CLIPS, middles, read_number
from standins.waiting import LIMIT, wait_until

from humor_tasks.tasks import mock_detecting
from humor_tasks.testing import ScriptedModel

pytestmark = pytest.mark.slow

SHOWN_AT = """async (seconds) => {
  const video = document.querySelector('video');
  video.muted = true;
  await video.play();
  video.pause();
  await new Promise(done => { video.addEventListener('seeked', done, {once: true}); video.currentTime = seconds; });
  const canvas = document.createElement('canvas');
  [canvas.width, canvas.height] = [video.videoWidth, video.videoHeight];
  canvas.getContext('2d').drawImage(video, 0, 0);
  return [video.duration, canvas.toDataURL('image/png')];
}"""


def clips_log(folder: Path, **parameters: Any) -> EvalLog:
    model = ScriptedModel("model", "Answer: yes").model
    task = mock_detecting(dataset="sample", scene="comedy", **parameters)
    (log,) = inspect_eval(task, model=model, log_dir=str(folder), display="log")
    assert log.status == "success", log.error
    return log


@pytest.fixture(scope="module")
def viewer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, dict[str, EvalLog]]]:
    """`inspect view` over a run with clips and a run with frames: its address, and the logs."""
    folder = tmp_path_factory.mktemp("logs")
    logs = {"media": clips_log(folder), "frames": clips_log(folder, input="frames", frames=5)}
    with closing(socket.socket()) as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "inspect_ai", "view", "start", "--log-dir", str(folder), "--port", str(port)]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.STDOUT)
    url = f"http://127.0.0.1:{port}/"
    try:
        wait_for(url, server)
        yield url, logs
    finally:
        server.kill()
        server.wait()


def wait_for(url: str, server: subprocess.Popen[bytes]) -> None:
    def answers() -> bool:
        try:
            urllib.request.urlopen(url, timeout=LIMIT).close()
        except (urllib.error.URLError, OSError):
            return False
        return True

    wait_until(answers, lambda: server.poll() is None)


@pytest.fixture(scope="module")
def opened(viewer: tuple[str, dict[str, EvalLog]]) -> Iterator[Browser]:
    """After the runs: playwright's event loop and Inspect's do not go together."""
    with browser() as program:
        yield program


def sample(opened: Browser, url: str, log: EvalLog, tab: str) -> tuple[Page, str]:
    """The first sample's page, and the clip its item is about."""
    assert log.samples
    identity = str(log.samples[0].id)
    page = opened.new_page()
    page.set_default_timeout(60_000)
    page.goto(f"{url}#/logs/{Path(log.location).name}/samples/sample/{identity}/1/{tab}")
    number = re.match(r"comedy_(\d+)_", identity)
    assert number is not None
    return page, f"clip_{number[1]}.mp4"


def decoded(uri: str) -> Image.Image:
    return Image.open(io.BytesIO(base64.b64decode(uri.partition(";base64,")[2])))


@pytest.mark.parametrize("tab", ["transcript", "messages"])
def test_the_clip_plays(opened: Browser, viewer: tuple[str, dict[str, EvalLog]], tab: str, tmp_path: Path) -> None:
    url, logs = viewer
    page, file = sample(opened, url, logs["media"], tab)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.wait_for_selector("video")
    for seconds, number in ((0.55, 5), (3.15, 31), (5.95, 59)):
        length, shown = page.evaluate(SHOWN_AT, seconds)
        assert length == pytest.approx(CLIPS[file]["seconds"], abs=0.1)
        assert read_number(decoded(shown)) == number
    page.locator("video").first.scroll_into_view_if_needed()
    page.screenshot(path=tmp_path / f"{tab}.png")
    assert [address for address in asked if not address.startswith((url, "data:", "blob:"))] == []
    page.close()


def test_the_frames_are_shown_in_order(opened: Browser, viewer: tuple[str, dict[str, EvalLog]], tmp_path: Path) -> None:
    url, logs = viewer
    page, file = sample(opened, url, logs["frames"], "messages")
    page.locator("img[src^='data:image/']").nth(4).wait_for()
    sizes = "all => Promise.all(all.map(async one => { await one.decode(); return [one.src, one.naturalWidth]; }))"
    images = page.eval_on_selector_all("img", sizes)
    assert [width for _, width in images] == [320] * 5
    assert [read_number(decoded(source)) for source, _ in images] == middles(file, 5)
    page.screenshot(path=tmp_path / "frames.png")
    page.close()
