import keras

from keraspinn.backend.tensorflow.loop import fused_loop


def test_fused_loop_runs_the_number_of_steps_asked_for():
    counter = keras.Variable(0.0)

    def step():
        counter.assign_add(1.0)
        return {"loss": counter.value}

    loop = fused_loop(
        step, lambda means, n: means | {"n": n}, ["loss"], "float32", True
    )
    logs = loop(4)
    assert float(counter.numpy()) == 4 and float(logs["loss"]) == 2.5
    assert float(loop(2)["loss"]) == 5.5 and float(counter.numpy()) == 6
