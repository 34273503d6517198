import keras
import pytest
import tensorflow as tf

import keraspinn as kp
from keraspinn.backend.tensorflow.gradients import compiled
from keraspinn.backend.tensorflow.trainer import StepFunctions


def test_loop_runs_the_requested_number_of_steps():
    counter = keras.Variable(0.0)

    def step():
        counter.assign_add(1.0)
        return {"loss": counter.value}

    class Counting(StepFunctions):
        variable_dtype, jit_compile = "float32", True
        distribute_strategy = tf.distribute.get_strategy()

    numbers, settings = iter([4, 2]), (["loss"], (), (), ())
    loop = Counting().loop_function(
        lambda: next(numbers), step, lambda means, n: means | {"n": n}, *settings
    )
    logs = loop(None)
    assert float(counter.numpy()) == 4 and float(logs["loss"]) == 2.5
    assert float(loop(None)["loss"]) == 5.5 and float(counter.numpy()) == 6


@pytest.mark.slow
@pytest.mark.parametrize("requested", [False, True])
def test_fit_may_request_tf32_products(requested):
    switch = tf.config.experimental.enable_tensor_float_32_execution
    rounded = tf.config.experimental.tensor_float_32_execution_enabled
    seen, previous = [], rounded()
    callbacks = [
        keras.callbacks.LambdaCallback(
            on_train_begin=lambda logs: switch(True) if requested else None,
            on_epoch_end=lambda epoch, logs: seen.append(rounded()),
        )
    ]
    model = kp.PINNModel(kp.problems.poisson(1), kp.networks.MLP(4, 1), seed=0)
    model.compile("adam", jit_compile=False)
    points, values = model.problem.test_data(5)
    model.fit(
        steps_per_epoch=1,
        epochs=2,
        verbose=0,
        validation_data=(points, values),
        callbacks=callbacks,
    )
    assert seen == [requested] * 2 and rounded() == previous


def test_many_models_compile_the_same_method_without_a_warning(caplog):
    class Doubled:
        def value(self, x):
            return 2 * x

    for _ in range(9):
        compiled(Doubled().value)(tf.ones(3))
    assert "retracing" not in caplog.text
