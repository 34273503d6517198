"""Tables of the order ladder."""

from reading import table, time

# Beginnings of labels and names on the page. The longest beginning that matches counts.
ENGINES = (
    ("M1 keraspinn", "Taylor"),
    ("M1 keraspinn, without XLA", "Taylor without XLA"),
    ("M1 keraspinn, nested Jacobian-vector products", "nested products"),
    ("M1 stock Keras, graph", "nested tapes, graph"),
    ("M1 hand-written JAX, forward over forward", "JAX, forward over forward"),
    ("M1 hand-written JAX, jax.experimental.jet", "JAX, jet"),
)


def ladder_points(results, dimension):
    """Return a dict from engine names to dicts from orders to results."""
    points = {}
    for key, stored in results.get("ladder", {}).items():
        d, order = key.split("D, order ")
        if int(d) == dimension:
            for label, result in stored["results"].items():
                begin = max((b for b, _ in ENGINES if label.startswith(b)), key=len)
                points.setdefault(dict(ENGINES)[begin], {})[int(order)] = result
    return points


def ladder_orders(results, dimension):
    """Return the orders that were measured, also those at which all entries failed."""
    keys = (key.split("D, order ") for key in results.get("ladder", {}))
    return sorted(int(order) for d, order in keys if int(d) == dimension)


def ladder(dimension):
    """Return a function that makes the table of time and memory by order."""

    def made(results):
        points = ladder_points(results, dimension)
        names = [name for _, name in ENGINES if name in points]

        def cell(name, order):
            if order not in points[name]:
                return "–"
            result = points[name][order]
            taken = result["peak_bytes"] - result["imported_bytes"]
            begin = f"{result['first_steps_seconds']:.0f} s"
            return f"{time(result)} ms, {taken / 1e6:.0f} MB, {begin}"

        orders = ladder_orders(results, dimension)
        rows = [[k, *(cell(name, k) for name in names)] for k in orders]
        return table(["order", *names], rows)

    return made


def ladder_ratios(results):
    """Return times of nested differentiation, divided by the Taylor engine's."""
    nested = ("nested tapes, graph", "nested products", "JAX, forward over forward")
    rows = []
    for dimension in (1, 2, 3):
        points = ladder_points(results, dimension)
        taylor = points.get("Taylor", {})
        for order in sorted(taylor):
            reference = taylor[order]["median_ms"]
            others = [points.get(name, {}).get(order) for name in nested]
            cells = [f"{o['median_ms'] / reference:.1f}" if o else "–" for o in others]
            rows.append([str(dimension), str(order), *cells])
    header = ["dimensions", "order", *(f"{name}, ×" for name in nested)]
    return table(header, rows)
