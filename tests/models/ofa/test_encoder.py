"""OFA's encoder: what it keeps while weights are constant, and that it never waits for a device."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from standins.ofa import gap, network, pictures, small, texts
from standins.ofa_graphs import Counted
from torch._subclasses.fake_tensor import DataDependentOutputException, FakeTensorMode

from humor_tasks.models.ofa import Ofa
from humor_tasks.models.ofa.config import PAD, GenerationSettings
from humor_tasks.models.ofa.encoder import Encoded, Encoder
from humor_tasks.models.ofa.generation import Hypothesis
from humor_tasks.models.ofa.layers import KnownPlaces, Places, eights
from humor_tasks.models.ofa.network import OfaNetwork

CLOSE = 2e-5
SHORT = GenerationSettings(beams=2, max_len=4)


def visible(encoded: Encoded) -> torch.Tensor:
    """The states without those at padded positions, which are undefined."""
    return encoded.states if encoded.padding is None else encoded.states.masked_fill(encoded.padding[:, :, None], 0)


# -- a device that is not waited for ----------------------------------------------------------------


@pytest.mark.parametrize("what", ["pictures", "features", "shared", "masked", "text"])
def test_a_forward_never_waits_for_the_device(what: str) -> None:
    """Fake tensors of a GPU have no values: reading one raises."""
    with FakeTensorMode(), torch.inference_mode():
        cuda, built = torch.device("cuda"), OfaNetwork(small()).eval()
        for module in built.modules():
            for held in (module._parameters, module._buffers):
                for name, t in held.items():
                    held[name] = None if t is None else torch.empty(t.shape, dtype=t.dtype, device=cuda)
        ids, images = torch.zeros(2, 7, dtype=torch.long, device=cuda), torch.zeros(2, 3, 40, 56, device=cuda)
        with pytest.raises(DataDependentOutputException):
            bool((ids == PAD).any())
        features = built.encoder.features(images)
        owners, masks = torch.zeros(2, dtype=torch.long, device=cuda), torch.ones(2, dtype=torch.bool, device=cuda)
        given = {
            "pictures": {"patch_images": images},
            "features": {"features": features},
            "shared": {"features": features[:1], "owners": owners},
            "masked": {"patch_images": images, "patch_masks": masks},
            "text": {},
        }[what]
        for padded in (None, False, True):
            encoded = built.encoder(ids, **given, padded=padded)
            assert encoded.states.device.type == "cuda"
            assert encoded.states.shape == (2, 7 if what == "text" else 19, 24)
            # Without a word from the caller, padding is possible.
            assert (encoded.padding is None) == (padded is False)


@torch.inference_mode()
def test_padding_is_looked_for_on_the_cpu_only() -> None:
    built = network()
    for lengths, found in (([4, 4], False), ([4, 7], True)):
        ids, images = texts(lengths), pictures(2)
        plain = built.encoder(ids, images)
        assert (plain.padding is not None) == found
        assert gap(visible(plain), visible(built.encoder(ids, images, padded=True))) < CLOSE
    masks = torch.tensor([True, False])
    assert built.encoder(texts([4, 4]), pictures(2), masks).padding is not None
    assert built.encoder(None, pictures(2), torch.tensor([True, True])).padding is None


def test_a_network_encodes_ids_that_were_checked_before_the_move(monkeypatch: pytest.MonkeyPatch) -> None:
    """`Ofa` looks at the caller's ids, and tells the encoder."""
    ofa, told = opened(), []
    real = Encoder.forward
    monkeypatch.setattr(
        Encoder, "forward", lambda self, *args, **given: told.append(given["padded"]) or real(self, *args, **given)
    )
    for lengths in ([4, 4], [4, 7]):
        ofa.generate(pictures(2), texts(lengths), SHORT)
    ofa.generate(pictures(2), None, SHORT)
    assert told == [False, True, False]


# -- rows that begin at multiples of eight ----------------------------------------------------------


@pytest.mark.parametrize("known", [False, True])
@pytest.mark.parametrize("lengths", [[5, 5], [3, 5], [8, 8]])
@torch.inference_mode()
def test_attention_needs_no_copy_of_its_bias(lengths: list[int], known: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """torch's `preprocess_mask` takes a mask with stride 1 last and multiples of eight before; others it copies."""
    seen: list[torch.Tensor] = []
    real = torch.nn.functional.scaled_dot_product_attention

    def spied(*args: Any, attn_mask: torch.Tensor, **given: Any) -> torch.Tensor:
        seen.append(attn_mask)
        return real(*args, attn_mask=attn_mask, **given)

    monkeypatch.setattr(torch.nn.functional, "scaled_dot_product_attention", spied)
    built = network()
    places = built.encoder.known_places().of((3, 4), max(lengths)) if known else None
    built.encoder(texts(lengths), pictures(2), places=places)
    assert len(seen) == 2
    for mask in seen:
        assert mask.stride(-1) == 1
        assert all(step % 8 == 0 for step in mask.stride()[:-1]), mask.stride()


# -- one picture of several texts -------------------------------------------------------------------


@torch.inference_mode()
def test_a_single_picture_is_projected_once_for_all_texts() -> None:
    built, ids = network(), texts([4, 7, 5])
    features = built.encoder.features(pictures(1))
    seen: list[int] = []
    built.encoder.image_proj.register_forward_pre_hook(lambda _, given: seen.append(len(given[0])))
    found = built.encoder(ids, features=features)
    assert seen == [1]
    assert gap(found.states, built.encoder(ids, features=features.expand(3, -1, -1, -1)).states) < CLOSE


# -- what is kept -----------------------------------------------------------------------------------


def opened() -> Ofa:
    return Ofa(network(), "small")


@pytest.mark.slow
@settings(max_examples=10, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(1, 48)), min_size=1, max_size=5))
@torch.inference_mode()
def test_kept_places_give_the_same_states(asked: list[tuple[int, int]]) -> None:
    """In any order of grids and lengths: those of a longer text serve a shorter one."""
    built = network()
    known = built.encoder.known_places()
    for rows, words in asked:
        ids, images = texts([words, max(2, words // 2)])[:, :words], pictures(2, 16 * rows, 32) if rows else None
        places = known.of((rows, 2) if rows else (0, 0), words)
        plain, kept = built.encoder(ids, images), built.encoder(ids, images, places=places)
        assert gap(visible(plain), visible(kept)) < CLOSE
        assert gap(plain.positions, kept.positions) < CLOSE


def test_places_are_kept_within_their_bytes() -> None:
    made: list[tuple[Any, int]] = []

    def make(grid: tuple[int, int], words: int) -> Any:
        made.append((grid, words))
        return object()

    known = KnownPlaces(make, lambda grid, words: 100 * grid[0] + words, most_words=40, most=400)
    first = known.of((1, 1), 5)
    assert known.of((1, 1), 16) is first  # in steps of sixteen
    assert known.of((1, 1), 17) is not first
    assert known.of((1, 1), 40) is known.of((1, 1), 39)  # no more than there are positions
    assert known.of((5, 1), 1) is None  # larger than all
    assert known.of((2, 1), 1) is known.of((2, 1), 1)
    assert made == [((1, 1), 16), ((1, 1), 32), ((1, 1), 40), ((2, 1), 16)]
    known.of((1, 1), 1)  # used last
    known.of((1, 2), 1)  # 140 + 216 + 116 bytes: the least recently used goes
    assert [grid for grid, _ in made[4:]] == [(1, 2)]
    known.of((1, 1), 1)
    assert len(made) == 5
    known.of((2, 1), 1)
    assert len(made) == 6


def test_the_size_of_places_is_that_of_their_tensors() -> None:
    encoder = network().encoder
    known = encoder.known_places()
    places = known.of((3, 4), 5)
    assert isinstance(places, Places)
    held = [places._shared, places._index, *(places.bias(i, 28)._base for i in range(2))]
    assert known._size((3, 4), 16) == sum(t.numel() * t.element_size() for t in held if t is not None)
    assert places.bias(0, 13)._base is places.bias(0, 28)._base
    assert eights(13) == 16 == places.bias(0, 13).shape[3]


def _weights(ofa: Ofa) -> list[torch.Tensor]:
    """The encoder's own weights; the token embedding is the decoder's too."""
    return [t for name, t in ofa.network.encoder.named_parameters() if "embed_tokens" not in name]


def _numpy(ofa: Ofa) -> None:
    """Which no version counter of torch sees."""
    for parameter in _weights(ofa):
        array = parameter.detach().numpy()
        array *= 1.5


def _assigned(ofa: Ofa) -> None:
    ofa.network.load_state_dict(network(seed=8).state_dict(), assign=True)
    ofa.network.tie()


def _replaced(ofa: Ofa) -> None:
    ofa.network.encoder.token_rel_pos_table_list[0] = torch.nn.Embedding(11, 4)
    ofa.network.encoder.pos_q_linear = torch.nn.Linear(24, 24)


@pytest.mark.parametrize("change", [_numpy, _assigned, _replaced])
def test_no_change_of_weights_finds_old_places(change: Callable[[Ofa], None]) -> None:
    ofa = opened()

    def scores() -> list[float]:
        with ofa.constant_weights():
            rows: list[list[Hypothesis]] = [
                *ofa.generate(pictures(2), texts([4, 7]), SHORT),
                *ofa.generate(pictures(2), texts([3, 5]), SHORT),
            ]
        return [each.score for row in rows for each in row]

    before = scores()
    change(ofa)
    after = scores()
    fresh = Ofa(copy.deepcopy(ofa.network), "small")
    plain = [
        each.score
        for ids in (texts([4, 7]), texts([3, 5]))
        for row in fresh.generate(pictures(2), ids, SHORT)
        for each in row
    ]
    assert after == pytest.approx(plain, abs=1e-4)
    assert after != pytest.approx(before, abs=1e-4)


def test_places_are_kept_inside_a_declaration_only(monkeypatch: pytest.MonkeyPatch) -> None:
    ofa, made = opened(), []
    real = Encoder.places
    monkeypatch.setattr(Encoder, "places", lambda self, grid, *given: made.append(grid) or real(self, grid, *given))

    def twice() -> Iterator[None]:
        for lengths in ([7, 7], [4, 5]):
            ofa.generate(pictures(2), texts(lengths), SHORT)
            yield

    list(twice())
    assert made == [(3, 4)] * 2
    made.clear()
    with ofa.constant_weights():
        list(twice())
        with ofa.constant_weights():  # as a thread's call beside another
            list(twice())
        list(twice())
    assert made == [(3, 4)]
    made.clear()
    with pytest.raises(KeyError), ofa.constant_weights():
        raise KeyError
    list(twice())
    assert made == [(3, 4)] * 2


@pytest.mark.parametrize(
    ("padded", "known", "layer"), [(False, False, 35), (False, True, 29), (True, False, 36), (True, True, 30)]
)
@torch.inference_mode()
def test_a_layer_dispatches_few_operations(padded: bool, known: bool, layer: int) -> None:
    """Two slices of a bias that is kept, and six operations to compute it; its padding costs one addition."""

    def operations(layers: int) -> int:
        built = network(small(encoder_layers=layers)).requires_grad_(False)
        places = built.encoder.known_places().of((3, 4), 7) if known else None
        given: dict[str, Any] = {"features": built.encoder.features(pictures(2)), "padded": padded, "places": places}
        ids = texts([4, 7] if padded else [7, 7])
        built.encoder(ids, **given)
        with Counted() as seen:
            built.encoder(ids, **given)
        return seen.names.total()

    assert operations(3) - operations(2) <= layer


# -- export -----------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_encoder_exports() -> None:
    built, lengths, images = network(), [4, 7], pictures(2)
    ids = texts(lengths)

    class Whole(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.encoder = built.encoder

        def forward(self, ids: torch.Tensor, images: torch.Tensor) -> torch.Tensor:
            return visible(self.encoder(ids, images, padded=True))

    exported = torch.export.export(Whole().eval(), (ids, images))
    other, shown = texts(lengths, seed=3), pictures(3)[1:]
    with torch.no_grad():
        assert gap(exported.module()(other, shown), visible(built.encoder(other, shown))) < CLOSE
        # The export leaves nothing behind.
        assert built.encoder(ids, images).states.isfinite().all()
