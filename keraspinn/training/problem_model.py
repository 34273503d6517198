"""What a model of a problem is, of one network or of many."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Self

import keras
import numpy as np
from keras import ops
from numpy.typing import ArrayLike

from keraspinn import backend
from keraspinn.common import arguments
from keraspinn.common.configs import restored, stamped, unstamped
from keraspinn.declaration.probe_points import sampled
from keraspinn.sampling.given import evaluation_data
from keraspinn.training import checks
from keraspinn.training.frozen import freeze, frozen
from keraspinn.training.precision import converted, policy
from keraspinn.training.progress import with_progress_bar
from keraspinn.training.resuming import Resuming
from keraspinn.training.step import Step
from keraspinn.training.trainer import FusedModel
from keraspinn.training.weighting import Weighting
from keraspinn.weighting import WeightingRule


class ProblemModel(FusedModel):
    """What `PINNModel` and `Ensemble` have in common.

    A subclass has the attributes `problem`, `network`, `seed`, `loss_weights` and
    `coefficients`, makes `_weighting` and `_sources`, and has a method
    `_begun_training` that returns the `TrainingState` before the first step.
    """

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self._resuming = Resuming()

    _kind = "model"  # what a saved configuration is called
    _seed_given = True
    _streams = False
    _made = None  # what step and state were made for

    @property
    def weighting(self) -> WeightingRule | None:
        """The rule that last adapted the loss weights, or `None`."""
        return self._weighting.last

    def set_weighting(self, rule: WeightingRule | Callable[..., Any] | None) -> None:
        """Let `rule` update the loss weights in every training step.

        Meant for callbacks, in their `set_model`; `fit` begins without a rule. What a
        rule remembers is kept until another is set, and saved with the model. Each
        member of an ensemble has loss weights and memory of its own.

        Args:
            rule: A `weighting.WeightingRule`; a hashable function of `(gradients,
                weights, iteration)` that returns the new weights; or `None`.

        Raises:
            ValueError: If the model has no conditions, or a rule already.
        """
        paths = [v.path for v in self.network.trainable_variables]
        self._weighting.set(rule, self.loss_weights, paths)

    @property
    def training_settings(self):
        """What a training follows from beside the configs of `fit`'s model, a dict.

        The seed, `None` if it was drawn; what the sources of points are; whether points
        are streamed; and the weighting rule.
        """
        return {
            "seed": self.seed if self._seed_given else None,
            **self._sources.settings,
            "streamed": self._streams,
            "weighting": self._weighting.rule,
        }

    def extra_training_state(self):
        """What samplers and the weighting rule remember: arrays by name."""
        return self.training.extra()

    def restore_extra_training_state(self, arrays):
        """Put back what `extra_training_state` returned."""
        self.training.restore_extra(arrays)

    # No property: Keras saves what those return.
    def _single(self):
        """The model of one network whose losses are trained."""
        return self

    def prepare_training(self):
        """Make the step and the variables of its state, or keep those there are."""
        checks.check_trainable(self._single().trainable_variables, self.optimizer)
        made = self._to_make
        if self.training is None or self._made[0] != made[0]:
            self.training = self._begun_training()
            self._step = self._new_step()
        elif self._made != made:
            # The same program; only the numbers of the points given are others.
            self.training.restart(self._begun_sampling())
        self._made = made
        self._resuming.resume(*self._resumed())

    @property
    def _to_make(self):
        """What step and state would be made for now."""
        return self.training_key, self._sources.digests

    def _resumed(self):
        """What a training goes on from in no other file, and a text that tells which.

        Variables of what is not as it was begun. They are of these points, this rule
        and so many steps of an optimizer of this class.
        """
        state, rule = self.training.structure, self._weighting.rule
        sampling = {n: state["sampling"][n] for n in self._sources.drawn}
        settings = self.training_settings | {
            "seed": self.seed,
            "weighting": rule and [type(rule).__qualname__, rule.get_config()],
            "optimizer": type(self.optimizer).__qualname__,
            "steps": self.steps_taken,
        }
        variables = keras.tree.flatten([sampling, state["seen"]])
        return variables, repr(sorted(settings.items()))

    def _begun_sampling(self):
        """What the samplers remember before the first step."""
        return self._sources.init(self.seed)

    def _new_step(self):
        return Step(
            objective=self._single()._objective,
            variables=tuple(self._single().trainable_variables),
            network_variables=tuple(self.network.trainable_variables),
            optimizer=self.optimizer,
            sources=self._sources,
            rule=self._weighting.rule,
            seed=self.seed,
            largest=self.max_points_per_pass,
        )

    @property
    def training_key(self):
        """Hashable: a compiled program serves until this changes."""
        how = id(self.optimizer), self.max_points_per_pass
        return self.evaluation_key, self._sources.key, self._weighting.rule, how

    @property
    def evaluation_key(self):
        """Hashable: compiled evaluation serves until this changes."""
        return self.seed, tuple(map(id, self._single().trainable_variables))

    def _adapted(self):
        """λ and the unknown coefficients by their names in logs, tensors."""
        adapted = {f"{name}_weight": v for name, v in self.loss_weights.items()}
        adapted |= self.coefficients
        return {name: ops.convert_to_tensor(v) for name, v in adapted.items()}

    def compute_output_shape(self, input_shape):
        return (*input_shape[:-1], len(self.problem.fields))

    def evaluate(
        self,
        x: ArrayLike | Iterable[Any] | None = None,
        y: Mapping[str, ArrayLike] | None = None,
        batch_size: int | None = None,
        verbose: str | int = "auto",
        **kwargs: Any,
    ) -> Any:
        """Losses, and relative L2 errors against the reference.

        The residual's loss is taken at the points given, the conditions' at fixed ones.

        Args:
            x: Points `(n, d)`, as `problem.test_data` returns them, or a dataset.
            y: Optional dict from reference names to values `(n,)`.
            batch_size: Number of points at a time.
            **kwargs: As in `keras.Model.evaluate`, like `verbose`.

        Returns:
            `loss` and further values, or a dict with `return_dict=True`.

        Raises:
            TypeError: If `x` is neither an array nor batches of points.
            ValueError: If points or values do not fit the problem, or there are none.
        """
        self.refuse_in_several_workers("evaluate")
        arguments.refuse_what_the_problem_says("evaluate", **kwargs)
        ready = kwargs.get("_use_cached_eval_dataset")  # made by `fit`, which validates
        if not ready and not arguments.is_stream("evaluate", x):
            x, y, batch_size = self._dataset(x, y, batch_size=batch_size), None, None
        x = arguments.as_tuples("evaluate", x)
        if not ready:
            callbacks = arguments.callback_list(kwargs.get("callbacks"))
            kwargs["callbacks"] = with_progress_bar(callbacks, verbose)
        with backend.double_precision():  # points may be far from the origin
            logs = super().evaluate(x, y, batch_size, verbose, **kwargs)
        if isinstance(logs, (list, dict)) and not logs:
            raise ValueError(arguments.without_batches("evaluate"))
        return logs

    def predict(
        self,
        x: ArrayLike | Iterable[Any],
        batch_size: int | None = None,
        verbose: str | int = "auto",
        **kwargs: Any,
    ) -> np.ndarray:
        """The fields at points: an array `(n, F)`; see `keras.Model.predict`.

        Raises:
            TypeError: If `x` is neither an array nor batches of points.
            ValueError: If the points do not fit the problem, or there are none.
        """
        if not arguments.is_stream("predict", x):
            data = self._dataset(x, batch_size=batch_size, called="prediction")
            x, batch_size = data, None
        x = arguments.as_tuples("predict", x)
        try:
            with backend.double_precision():
                return super().predict(x, batch_size, verbose, **kwargs)
        except UnboundLocalError as error:  # Keras's, of batches it did not see
            raise ValueError(arguments.without_batches("predict")) from error

    def sampled_fields(self):
        """The fields at some points inside, always the same: an array `(16, F)`.

        Other fields of the same weights are those of another network.
        """
        domain = self.problem.domain
        points = sampled(domain, domain.blocks("interior"), 16)
        return ops.convert_to_numpy(self(points))

    def _dataset(self, x, y=None, *, batch_size=None, called="evaluation"):
        replicas = self.replica_count
        return evaluation_data(self.problem, x, y, batch_size, replicas, called)

    def quantize(self, mode, *args, **kwargs):
        """Raises `ValueError`: equations need derivatives, which 8 bits do not have."""
        raise ValueError(
            "Networks of a PINNModel compute in float32 or float64: derivatives of a "
            f"quantized one are zero. Received: quantize({mode!r}). For predictions "
            "alone, fit a small Keras model to `model.predict(points)` and quantize it."
        )

    def astype(self, dtype: str) -> Self:
        """The same model at another precision, for second-order training above all.

        Its network has the same configuration with every type replaced. Weights, loss
        weights, coefficients and what the weighting rule remembers are copies, what is
        frozen stays so, and points follow from the same seed. This model stays as it
        is, its network too.

        Args:
            dtype: `"float32"` or `"float64"`.

        Returns:
            The model, not compiled.

        Raises:
            ValueError: For another type.

        Example:

        >>> model = keraspinn.PINNModel(
        ...     keraspinn.problems.poisson(), keraspinn.networks.MLP(units=4, depth=1)
        ... )
        >>> model.astype("float64").variable_dtype
        'float64'
        """
        other = converted(self, dtype)
        other._seed_given = self._seed_given
        other._weighting = self._weighting.continued(dtype)
        return other

    def get_config(self):
        own = {
            "problem": keras.saving.serialize_keras_object(self.problem),
            "network": keras.saving.serialize_keras_object(self.network),
            "seed": self.seed,
        }
        if (rule := self._weighting.get_config()) is not None:
            own["weighting"] = rule
        if places := frozen(self):
            own["frozen"] = places
        return stamped({**super().get_config(), **own})

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Self:
        config = unstamped(config, cls._kind)
        rule, places = config.pop("weighting", None), config.pop("frozen", ())
        with policy(config.get("dtype")):
            model = cls(**checks.deserialized_parts(config))
        freeze(model, places)
        if rule is not None:
            model._weighting = Weighting(restored(rule, WeightingRule))
        return model

    def save_own_variables(self, store):
        super().save_own_variables(store)
        self._weighting.save(store)
        goes_on = self.training is not None and self._made == self._to_make
        self._resuming.save(store, *(self._resumed() if goes_on else ((), "")))

    def load_own_variables(self, store):
        super().load_own_variables(self._resuming.load(self._weighting.load(store)))
