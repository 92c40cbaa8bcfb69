"""When and where a photo was taken, by its EXIF data (CIPA DC-008)."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from PIL import ExifTags, Image

_GPS: Final = ExifTags.IFD.GPSInfo
_DETAILS: Final = ExifTags.IFD.Exif
_TIME_FORMAT: Final = "%Y:%m:%d %H:%M:%S"
_DEGREES: Final = (1.0, 60.0, 3600.0)
_LONGEST: Final = 100


def photo_properties(image: Image.Image) -> dict[str, str]:
    """Return `taken_at` (ISO 8601, local to the camera), `place` (latitude, longitude in degrees) and `camera`.

    A property that the photo lacks, or that is not as the standard has it, is left out.
    """
    try:
        exif = image.getexif()
        details, position = exif.get_ifd(_DETAILS), exif.get_ifd(_GPS)
    except (OSError, SyntaxError, ValueError, TypeError, KeyError, ZeroDivisionError):
        return {}
    taken = details.get(ExifTags.Base.DateTimeOriginal) or exif.get(ExifTags.Base.DateTime)
    found = {"taken_at": _time(taken), "place": _place(position), "camera": _camera(exif)}
    return {name: value for name, value in found.items() if value}


def _time(value: Any) -> str:
    try:
        return datetime.strptime(str(value).strip("\0 "), _TIME_FORMAT).isoformat(" ")  # noqa: DTZ007 - a camera's clock
    except ValueError:
        return ""


def _place(position: Mapping[int, Any]) -> str:
    latitude = _degrees(position, ExifTags.GPS.GPSLatitude, ExifTags.GPS.GPSLatitudeRef, 90)
    longitude = _degrees(position, ExifTags.GPS.GPSLongitude, ExifTags.GPS.GPSLongitudeRef, 180)
    return "" if latitude is None or longitude is None else f"{latitude:.5f}, {longitude:.5f}"


def _degrees(position: Mapping[int, Any], value: int, reference: int, most: int) -> float | None:
    try:
        degrees = sum(float(one) / per for one, per in zip(position[value], _DEGREES, strict=True))
    except (KeyError, TypeError, ValueError, ZeroDivisionError):
        return None
    signed = -degrees if str(position.get(reference, "")).strip("\0 ").upper() in ("S", "W") else degrees
    return signed if abs(signed) <= most else None


def _camera(exif: Image.Exif) -> str:
    names = (str(exif.get(tag, "")).strip("\0 ") for tag in (ExifTags.Base.Make, ExifTags.Base.Model))
    maker, model = (" ".join(name.split())[:_LONGEST] for name in names)
    return model if maker and model.lower().startswith(maker.lower()) else f"{maker} {model}".strip()
