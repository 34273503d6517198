"""Geometries: sample collocation points in domains and on their faces."""

from keraspinn.geometry.arrays import library, like
from keraspinn.geometry.ball import Ball, Disk
from keraspinn.geometry.base import Geometry
from keraspinn.geometry.boolean import Difference, Intersection, Union
from keraspinn.geometry.box import Box
from keraspinn.geometry.by_region import by_region, relation  # noqa: F401
from keraspinn.geometry.cloud import PointCloud
from keraspinn.geometry.ellipse import Ellipse
from keraspinn.geometry.faces import in_coordinates_of, restricted  # noqa: F401
from keraspinn.geometry.mesh import Mesh
from keraspinn.geometry.part import Block, On, Part, exact_number  # noqa: F401
from keraspinn.geometry.polygon import Polygon
from keraspinn.geometry.polyhedron import Polyhedron
from keraspinn.geometry.product import Product
from keraspinn.geometry.regions import Interface, region, within  # noqa: F401
from keraspinn.geometry.sector import Annulus, Sector

__all__ = [
    "Annulus",
    "Ball",
    "Box",
    "Difference",
    "Disk",
    "Ellipse",
    "Geometry",
    "Interface",
    "Intersection",
    "Mesh",
    "Part",
    "PointCloud",
    "Polygon",
    "Polyhedron",
    "Product",
    "Sector",
    "Union",
    "by_region",
    "library",
    "like",
]
