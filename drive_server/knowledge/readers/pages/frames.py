"""The frames of an image: the pages of a TIFF, the moments of an animation, also with damaged ones between."""

from collections.abc import Iterator
from typing import Any, Final

import numpy
from PIL import Image, ImageStat

_ANIMATED: Final = frozenset({"GIF", "PNG", "WEBP", "AVIF"})
_MAX_COUNTED: Final = 10_000
_LIGHT: Final = 160
"""A drawing of at least this mean brightness (0 to 255) would be lost on white."""


def seek_each(image: Image.Image, first: int = 0, end: int = _MAX_COUNTED) -> Iterator[tuple[int, bool]]:
    """Go to each page of an image, from number `first` (counted from 0) on; yield it, and whether it could be found.

    Only a TIFF has several pages. A damaged one does not hide those behind it, if they can be found.
    """
    for index in range(first, end if image.format == "TIFF" else min(end, 1)):
        try:
            image.seek(index)
        except EOFError:
            return
        except Exception:  # noqa: BLE001 - Pillow raises anything at all for a damaged frame; it counts as not read
            yield index, False
        else:
            yield index, True


def later_moments(image: Image.Image) -> int:
    """Return how many frames an animation has behind its first; 0 for other images, such as a photo with a preview."""
    if image.format not in _ANIMATED:
        return 0
    try:
        return getattr(image, "n_frames", 1) - 1
    except Exception:  # noqa: BLE001 - as above: the end of the animation is damaged
        return 1


def in_colours(image: Image.Image) -> Image.Image:
    """Return an image as RGB, with nothing lost in white or black that can be told apart in the image itself."""
    if image.mode.startswith(("I", "F")):
        return _scaled(image)
    return _on_ground(image.convert("RGBA")) if image.has_transparency_data else image.convert("RGB")


def _scaled(image: Image.Image) -> Image.Image:
    """Spread the values of a pixel of more than 8 bits from black to white: Pillow cuts them off at 255."""
    values: Any = numpy.nan_to_num(numpy.asarray(image, dtype=float))
    low, high = values.min(), values.max()
    return Image.fromarray(((values - low) * (255 / max(high - low, 1e-9))).astype("uint8")).convert("RGB")


def _on_ground(image: Image.Image) -> Image.Image:
    """Put a picture with clear parts on white, or on black if it is drawn in light colours."""
    drawn = image.getchannel("A").point([0] + [255] * 255)
    is_light = drawn.getbbox() is not None and ImageStat.Stat(image.convert("L"), drawn).mean[0] >= _LIGHT
    ground = Image.new("RGBA", image.size, "black" if is_light else "white")
    return Image.alpha_composite(ground, image).convert("RGB")
