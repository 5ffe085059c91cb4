"""Photographs as users have them: turned by a camera, with an alpha channel, cut off by a download, or no image."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from gn_tutorial.cli.photo_tour import load_photo
from gn_tutorial.errors import ArgumentError


def stripes(width: int, height: int) -> Image.Image:
    """Red on the left, blue at the bottom, so that a turned or mirrored image is noticed."""
    pixels = np.zeros((height, width, 3), np.uint8)
    pixels[:, : width // 4, 0] = 255
    pixels[-height // 4 :, :, 2] = 255
    return Image.fromarray(pixels)


def test_a_small_photograph_keeps_its_pixels(tmp_path: Path) -> None:
    stripes(40, 20).save(tmp_path / "small.png")
    photo = load_photo(tmp_path / "small.png", longest_side=256)
    assert photo.dtype == np.uint8
    np.testing.assert_array_equal(photo, np.asarray(stripes(40, 20)))


def test_a_large_photograph_is_scaled_down_and_keeps_its_proportions(tmp_path: Path) -> None:
    stripes(1200, 600).save(tmp_path / "large.jpg")
    photo = load_photo(tmp_path / "large.jpg", longest_side=256)
    assert photo.shape == (128, 256, 3)
    assert photo[10, 10].argmax() == 0
    assert photo[-5, -5].argmax() == 2


def test_a_photograph_turned_by_the_camera_is_turned_back(tmp_path: Path) -> None:
    upright, exif = stripes(40, 20), Image.Exif()
    exif[0x0112] = 6  # the camera was held so that the stored image has to be turned clockwise
    upright.transpose(Image.Transpose.ROTATE_90).save(tmp_path / "turned.png", exif=exif)
    np.testing.assert_array_equal(load_photo(tmp_path / "turned.png", longest_side=256), np.asarray(upright))


@pytest.mark.parametrize("mode", ["L", "RGBA", "P", "1", "CMYK", "LA"])
def test_every_kind_of_image_becomes_red_green_blue(tmp_path: Path, mode: str) -> None:
    path = tmp_path / ("image.tiff" if mode == "CMYK" else "image.png")
    stripes(40, 20).convert(mode).save(path)
    assert load_photo(path, longest_side=256).shape == (20, 40, 3)


def test_what_cannot_be_read_is_refused_with_its_name(tmp_path: Path) -> None:
    (tmp_path / "notes.jpg").write_text("no image at all")
    (tmp_path / "empty.png").write_bytes(b"")
    # Noise does not compress, so the damage hits pixels and not the end of the file.
    noise = Image.fromarray(np.random.default_rng(1).integers(0, 256, (90, 120, 3), dtype=np.uint8))
    noise.save(tmp_path / "whole.jpg")
    whole = (tmp_path / "whole.jpg").read_bytes()
    (tmp_path / "cut.jpg").write_bytes(whole[: len(whole) // 2])
    noise.save(tmp_path / "whole.png")
    damaged = bytearray((tmp_path / "whole.png").read_bytes())
    damaged[len(damaged) // 2 :] = bytes(len(damaged) - len(damaged) // 2)
    (tmp_path / "damaged.png").write_bytes(damaged)
    for name, words in {
        "notes.jpg": "notes.jpg is not an image",
        "empty.png": "empty.png is not an image",
        "cut.jpg": "cut.jpg cannot be read: image file is truncated",
        "damaged.png": "damaged.png cannot be read",
        "missing.png": "there is no file missing.png",
        ".": "is a folder",
    }.items():
        with pytest.raises(ArgumentError, match=words) as caught:
            load_photo(tmp_path / name, longest_side=256)
        assert caught.value.hint


def test_a_decompression_bomb_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stripes(400, 300).save(tmp_path / "bomb.png")
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 1000)
    with pytest.raises(ArgumentError, match="too many pixels"):
        load_photo(tmp_path / "bomb.png", longest_side=256)
