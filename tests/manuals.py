"""Three manuals written for the tests, each with lists of steps in a style of its own."""

from collections.abc import Mapping

WORKSHOP = """\
# Workshop handbook

## Sharpening a chisel

A blunt chisel slips, and a slipping chisel cuts the hand that holds the wood.

1. **Inspect.** Hold the edge against a lamp and look for chips.
2. **Clamp.** Fix the water stone in the vice.
3. **Soak.** Leave the stone under water until no more bubbles rise.
4. **Hone.** Push the bevel over the stone forty times.
5. **Turn.** Lay the back flat on the stone and take off the burr.
6. **Test.** Cut across a piece of pine.

Never test the edge with your thumb.

## Bleeding the brake

Spongy levers mean air in the hose.

1. Tilt the bicycle until the lever is the highest point of the whole hose, and let it stand
   there for ten minutes so that the larger bubbles rise by themselves.
2. Prepare the two syringes:
   1. Fill the first syringe with 20 mL of mineral oil and push out what air is left in it.
   2. Leave the second syringe empty and oil its plunger.
   3. Wrap a rag around both tips.
3. Take out the pads and press the yellow block between the pistons, because the pistons would
   otherwise fall out of the caliper as soon as the lever is pulled.
4. Screw the full syringe into the caliper with the 4 mm adapter, hand-tight and no tighter.
5. Screw the empty syringe into the lever with the 6 mm adapter, and open its valve.
6. Push the oil slowly from the caliper up to the lever, and tap the hose on its whole length
   with the handle of a screwdriver while you push.
7. Draw the oil back and forth until no bubble is seen in either syringe, which takes about a
   quarter of an hour for a hose that was emptied.
8. Close the valve of the lever first, then take off the upper syringe and put in the screw.
9. Take off the lower syringe, put in the lower screw and wipe away every drop of oil.
10. Clean the caliper with alcohol, put the pads back and pull the lever thirty times.
11. Ride once around the yard at walking pace before you ride on the road.
"""
"""Bold lead words, a warning behind a list, nested steps, and a list longer than one passage."""

KITCHEN = """\
# The camp kitchen

## Lentil soup

For six people you need:

- 400 g of red lentils
- two onions
- one lemon

Preparation:

- Chop the onions and fry them in oil.
- Add the lentils and two litres of water.
- Simmer for 25 minutes.
- Squeeze the lemon into the pot.
- Season with cumin and salt.

## Starting the stove controller

The controller is a small computer. It listens on port 8020.

1. Plug in the controller and wait for the green lamp.
2. Log in and start the service:

   ```sh
   ssh cook@stove
   sudo stovectl start
   ```

3. Set the temperature with `stovectl heat 180`.
4. Check that the lamp has turned blue.

## Burnt pots

A burnt pot is soaked overnight with baking soda. The crust comes off by itself.
"""
"""Bullets in the imperative beside bullets that are things, and steps with code."""

AQUARIUM = """\
# Das Aquarium

## Wasserwechsel

Ein Teil des Wassers wird jede Woche gewechselt.

1. Ziehen Sie den Stecker der Heizung.
2. Saugen Sie ein Drittel des Wassers mit dem Schlauch ab.
3. Wischen Sie die Scheiben mit einem Schwamm ab.
4. Füllen Sie temperiertes Wasser ein.
5. Geben Sie den Wasseraufbereiter dazu.
6. Stecken Sie die Heizung wieder ein.

Achtung: Die Heizung darf nie außerhalb des Wassers laufen.

## Filter

Der Filter hält Schwebstoffe zurück. Filter reinigen:

- Schlauch abklemmen
- Schwamm in Aquarienwasser ausdrücken
- Rotor mit der Bürste putzen
- Filter wieder anschließen
"""
"""German, with "Sie" in numbered steps and with infinitives behind bullets."""

MANUALS: Mapping[str, Mapping[str, str]] = {
    "workshop": {"workshop.md": WORKSHOP},
    "kitchen": {"kitchen.md": KITCHEN},
    "aquarium": {"aquarium.md": AQUARIUM},
}
"""The files of each course, by its id."""
