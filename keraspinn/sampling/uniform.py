from keraspinn.sampling.base import Sampler


class Uniform(Sampler):
    """Fresh points in every step, uniform on each part of the domain.

    The default of `PINNModel.fit`, as in the paper.

    Example:

    ```python
    model.fit({"residual": keraspinn.sampling.Uniform()}, batch_size=128)
    ```

    Reference:
        Wang, Teng & Perdikaris, "Understanding and mitigating gradient pathologies
        in physics-informed neural networks", Algorithm 1.
    """

    def step(self, place, state, iteration, uniform, error):
        return place.draw(uniform), state
