"""A photograph as an array: any file Pillow reads, upright, in RGB, and small enough for the twin."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PIL import Image, ImageOps

from gn_tutorial.errors import ArgumentError


def load_photo(path: Path, *, longest_side: int) -> np.ndarray:
    """Read a photograph, turn it upright, and scale it down until no side is longer than ``longest_side`` pixels.

    Returns uint8 of shape (H, W, 3). A smaller photograph keeps its size; an animation gives its first frame.
    Raises ArgumentError for a file that is missing, not an image, truncated or damaged, or would need too much memory.
    """
    where = f"photograph {path}"
    if not path.exists():
        raise ArgumentError(f"there is no file {path.name}", where=where, hint="check the path")
    if path.is_dir():
        raise ArgumentError(f"{path.name} is a folder", where=where, hint="name one image file in it")
    try:
        with Image.open(path) as image:
            upright = ImageOps.exif_transpose(image).convert("RGB")
    except Image.UnidentifiedImageError:
        raise ArgumentError(
            f"{path.name} is not an image that can be read", where=where, hint="use a JPEG, PNG or WebP file"
        ) from None
    except Image.DecompressionBombError:
        raise ArgumentError(
            f"{path.name} has too many pixels to open safely", where=where, hint="save a smaller copy of it"
        ) from None
    except (OSError, SyntaxError, ValueError, EOFError) as error:
        # Pillow's decoders raise all four for damaged files; the text names the damage ("image file is truncated").
        raise ArgumentError(
            f"{path.name} cannot be read: {error}",
            where=where,
            hint="open it in a viewer and save it again",
        ) from error
    upright.thumbnail((longest_side, longest_side), Image.Resampling.LANCZOS)
    return np.asarray(upright)
