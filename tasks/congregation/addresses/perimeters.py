"""The perimeter of a congregation's territory: read, checked, asked about points."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

import shapely
from shapely.geometry import MultiPolygon, Polygon, mapping, shape
from shapely.geometry.base import BaseGeometry
from shapely.validation import explain_validity

from tasks.errors import InvalidInput
from tasks.saying import say

#: Bytes of a pasted or uploaded perimeter.
GEOJSON_MAX: Final = 2_000_000
POINTS_MAX: Final = 50_000
_KM_PER_DEGREE: Final = 111.32


class Perimeter:
    """An area that says of many points at once which are within; its rim counts."""

    def __init__(self, geometry: Mapping[str, Any] | None) -> None:
        self._shape: BaseGeometry | None = None
        if geometry is not None:
            self._shape = shape(geometry)
            shapely.prepare(self._shape)

    def inside(
        self, lats: Sequence[float | None], lons: Sequence[float | None]
    ) -> Sequence[bool]:
        """Tell which points are within; those that are nowhere are not.

        Without a perimeter all are, also those that are nowhere.
        """
        if self._shape is None:
            return [True] * len(lats)
        xs = [math.nan if lon is None else lon for lon in lons]
        ys = [math.nan if lat is None else lat for lat in lats]
        found: list[bool] = shapely.intersects_xy(self._shape, xs, ys).tolist()
        return found


def read_geojson(text: str) -> dict[str, Any]:
    """Return the one geometry of a GeoJSON text, checked and without heights.

    Several polygons become one area.

    Raises:
        InvalidInput: it is none; the sentence says what is wrong and where.
    """
    if len(text) > GEOJSON_MAX:
        most = GEOJSON_MAX // 1_000_000
        raise _no("too_long", say("It may have at most %(max)s MB.", max=most))
    try:
        told = json.loads(text)
    except (ValueError, RecursionError) as error:
        told = say("This is no JSON (%(where)s).", where=_where(error))
        raise _no("bad_json", told) from error
    polygons = [_polygon(rings) for rings in _rings(told)]
    if not polygons:
        raise _no("no_polygon", say("It holds no Polygon and no MultiPolygon."))
    if sum(shapely.get_num_coordinates(polygons).tolist()) > POINTS_MAX:
        points = str(POINTS_MAX)
        raise _no(
            "too_long",
            say("It may have at most %(max)s points; simplify it.", max=points),
        )
    whole = shapely.union_all(polygons)
    if not isinstance(whole, Polygon | MultiPolygon) or whole.area == 0:
        raise _no("no_area", say("The perimeter has no area."))
    made: dict[str, Any] = json.loads(json.dumps(mapping(whole)))
    return made


def area_km2(geometry: Mapping[str, Any]) -> float:
    """Return about how large a perimeter is."""
    area = shape(geometry)
    return float(area.area * _KM_PER_DEGREE**2 * _narrowing(area))


def outline(geometry: Mapping[str, Any], size: float) -> tuple[str, float, float]:
    """Return a perimeter as an SVG path, and its width and height.

    Args:
        size: of the longer side.
    """
    area = shape(geometry)
    west, south, east, north = area.bounds
    narrow = _narrowing(area)
    scale = size / max((east - west) * narrow, north - south)
    plain = area.simplify((north - south) / size / 4)
    parts = plain.geoms if isinstance(plain, MultiPolygon) else [plain]
    rings = [ring for part in parts for ring in (part.exterior, *part.interiors)]
    path = " ".join(
        "M"
        + " ".join(
            f"{(x - west) * narrow * scale:.1f},{(north - y) * scale:.1f}"
            for x, y in ring.coords
        )
        + "Z"
        for ring in rings
    )
    return path, (east - west) * narrow * scale, (north - south) * scale


def _narrowing(area: BaseGeometry) -> float:
    """Return how much narrower a degree of longitude is than one of latitude."""
    _, south, _, north = area.bounds
    return max(math.cos(math.radians((south + north) / 2)), 0.01)


def _rings(told: object) -> list[Any]:
    """Return the rings of every polygon within a GeoJSON object."""
    if not isinstance(told, dict):
        raise _no("bad_geojson", say("This is no GeoJSON object."))
    kind = told.get("type")
    if kind == "FeatureCollection" and isinstance(told.get("features"), list):
        return [ring for each in told["features"] for ring in _rings(each)]
    if kind == "GeometryCollection" and isinstance(told.get("geometries"), list):
        return [ring for each in told["geometries"] for ring in _rings(each)]
    if kind == "Feature":
        return _rings(told.get("geometry"))
    if kind == "Polygon":
        return [told.get("coordinates")]
    if kind == "MultiPolygon" and isinstance(told.get("coordinates"), list):
        return list(told["coordinates"])
    # No set: a strange object may have a list there, which no set can look up.
    if kind in ("Point", "MultiPoint", "LineString", "MultiLineString"):
        return []
    raise _no(
        "bad_geojson",
        say("The type %(type)s is none of GeoJSON.", type=repr(str(kind)[:40])),
    )


def _polygon(rings: object) -> Polygon:
    if not isinstance(rings, list) or not rings:
        raise _no("bad_geojson", say("A polygon needs a list of rings."))
    points = [_ring(ring) for ring in rings]
    made = Polygon(points[0], points[1:])
    if not made.is_valid:
        raise _no(
            "bad_perimeter",
            say(
                "The perimeter’s line crosses or touches itself: %(where)s (longitude, "
                "latitude).",
                where=explain_validity(made),
            ),
        )
    return made


def _ring(ring: object) -> list[tuple[float, float]]:
    if not isinstance(ring, list) or len(ring) < 4:
        raise _no(
            "bad_geojson", say("A ring needs four points, the last as the first.")
        )
    points = [_point(point) for point in ring]
    if points[0] != points[-1]:
        raise _no("bad_geojson", say("A ring must end at the point where it begins."))
    return points


def _point(point: object) -> tuple[float, float]:
    if isinstance(point, list) and len(point) >= 2:
        lon, lat = point[:2]
        are_numbers = all(type(each) in {int, float} for each in (lon, lat))
        if are_numbers and -180 <= lon <= 180 and -90 <= lat <= 90:
            return float(lon), float(lat)
    raise _no(
        "bad_geojson",
        say(
            "%(point)s is no point; points are [longitude, latitude] in degrees.",
            point=str(point)[:60],
        ),
    )


def _where(error: Exception) -> str:
    if isinstance(error, json.JSONDecodeError):
        return say(
            "line %(line)s, column %(column)s",
            line=str(error.lineno),
            column=str(error.colno),
        )
    return say("it is nested too deeply, or holds a number that is too long")


def _no(code: str, sentence: str) -> InvalidInput:
    return InvalidInput(code, sentence, field="perimeter")
