/**
 * The words of claim phrases: 2,048, so that each word carries 11 bits.
 *
 * They were chosen by hand from everyday English, then thinned by rules: 4 to 8 letters; no proper names; no words
 * that sound alike, have two spellings or give offence; no two words that differ in one letter or in two swapped
 * letters; no word that is another one with an ending. The first four letters of each word are unique. The list is in
 * the public domain. It may be replaced at any time: a phrase is checked by its hash, never by this list.
 */
export const PHRASE_WORDS: readonly string[] = `
ability absorb academy accent acclaim accord accurate acorn acrobat action actor actual acute adage adapt
address adequate adjacent adjust admit advance advice aerial afar affair afford after agenda aglow agree
ahead airline airport airship alarm album alcove alert algebra alike alley almanac almond alphabet alpine
amazing amber ambition amount amuse ancestor anchor ancient anew angle animal annex announce annual answer
antenna anthem antique anybody anyone anywhere apart appear apply appoint approve apricot apron aquarium
aqueduct arbor arcade arch arctic area argue armchair aroma around arrange arrive artist artwork ascend
ashore aside aspen asset assist assume astound athlete atlas atom attach attend attic attract audio august
author autumn avenue average avid avocado awake award away awesome awkward awning axis azure baby backpack
badge bagel baggage baker balance balcony ballet bamboo bandage banjo banner banquet barber bargain barley
barn barrel baseball basic basket bath baton battery beacon beak beard beautify become bedrock bedside
beehive beetle begin behave behind belfry belief bellow belong belt bench benefit beret bestow beverage
bicycle bifocal bike billion binder biology biplane birch bird birthday biscuit bison blanket blaze bleacher
blend blimp blizzard bloom blossom blouse bluff boat bobcat bobsled body bold bonfire bonnet bonus bookcase
boost borrow boss botany bottle bounce bouquet boutique bowl bracket braid brass brave breeze brick bridge
brief bright bring broad broccoli bronze brook brownie brush bubble bucket budget buffet bugle build bulb
bulletin bumper bundle bungalow bunny burger bushel business busy butler button buyer buzz cabbage cabin
cable caboose cactus calendar calf camel campus canal candy canoe canteen canyon capable cape captain
caramel carbon card career cargo caribou carnival carpet carry cartoon cashew castle casual catapult catch
catfish cause caution caviar cedar celery cello cement century ceramic certain chair chalk champion chance
chapter charm chase chat cheddar cheek chef chess chicken child chimney chin chipmunk chisel chive choice
chorus chowder chuckle cider cinema cinnamon circle citadel citizen citrus city civic clam clarinet clasp
clavicle clear clerk clever client cliff climate clip cloak closet cloth clown club cluster coach cobalt
cobbler cobra cockpit coconut cohesion collar column comb comet comfort comic common compass concept condor
cone confirm connect consider control convert cookie copilot copper copy coral cordial cornmeal correct
cosmos costume cotton count couple courage covenant cowboy coyote crab cradle crane crater crayon cream
crescent crew cricket crimson crisp crochet crop cross crowd crucial crumb crunch crystal cube cubic cuckoo
cuddle culinary culture cupboard curator curfew curious cursive curve cushion custom cutlery cycle daffodil
daily damp dance daring dash data dawn daylight daytime dazzle debate decade decimal declare decorate
dedicate deep defend define degree delay delegate delight delta demand demo denim depart deposit depth derby
describe design desk destiny detail detect develop device devote dewdrop diagram dial diamond diary diesel
diet differ digit dignify diner dinghy dinosaur diploma direct discuss display distance divide doctrine
document dogwood doll dolphin domain dome domino donate door dormouse dovetail downtown dozen dragon drama
drapery draw dress drift drink drive drizzle drum duck dugout dune duplex durable dust dutiful dweller
dynamic eager eagle eardrum early earnest earring earth easel eastern easy echo eclipse ecology economy edge
edible edit educate effort eggplant elapse elastic elbow elder elegant element elephant eleven elite elixir
eloquent embark emblem embrace emerald emotion emphasis employ empower empty enable enact encore endless
endorse endure energy engage engine engrave enjoy enlarge enlist enough enrich ensemble enter entire entry
envelope epic epoch equal equip errand error escape espresso essay essence estate estimate etching eternal
ethics event everyday evidence evolve example exceed exchange excite exclaim exercise exhale exhibit exotic
expand expect explain export express extend extra eyebrow eyelash fabric facade face faculty faith falcon
family famous fancy fanfare faraway farewell farm fashion fathom faucet feast feather feed feline fence fern
ferry fertile festive fetch fever fiction fiddle fidget field fiesta fifty figure filament film filter final
finger finish firefly fish fitness fjord flag flame flannel flapjack flash fleet flexible flicker flight
flint float flock floor flora flourish fluent fluffy fluid flurry flute focus foil foliage folk foot forest
forge formula fortune forum forward fossil fountain four foxglove foyer fraction fragment freckle freedom
freight frequent fresh friend fringe fritter frog front frozen fruit fudge fuel function furnace future
gadget galaxy gallon game garage garden garlic garment garnet gather gauge gazelle gear gecko gelatin
general genius genre gentle genuine geology gesture geyser gherkin giant gift gigantic giggle gingham
giraffe give glacier glad glance glass gleam glimpse glisten glitter globe glory glossary glue gnome goal
goblet goggles goldfish gondola goodness goose gopher gorgeous gossip gourmet gown grace graduate grain gram
granite graph grasp grateful gravy green griddle grill grizzly grocery groove group grow guard guava guess
guide guitar gulf gumdrop gusto gutter gymnast habit hallway halo halves hamlet hammer hamster hand happy
hardware harmony harness harvest haven havoc hawk hazel headway health heart heavy hedgehog height helmet
help hemlock herald heritage hermit heron hexagon hickory hidden highway hill hinge hint hire history hobby
hockey holiday hollow homework honey hood horizon horn host hotel hourly house hover human humble humid
hummus humorous hundred hurdle hurry husky hyacinth hybrid hydrant hyphen iceberg icicle icon idea igloo
illumine image imitate immense impact import impress impulse incense inch include income increase index
indigo indoor infant infinite inform inhale inherit initial inlet inner innovate input inquire insect inside
inspire install insure intact interest intrepid invent invite invoice island isotope issue item itself ivory
jacket jade jaguar jamboree janitor jasmine jaunt javelin jazz jelly jersey jester jetty jewel jigsaw jingle
join joke journal jovial joyful joyous jubilee juggle juice jukebox jumbo jump junior junk kangaroo karate
kayak kazoo keen kennel kettle keyboard keynote kick kidney kilogram kimono kind kingdom kinship kiosk
kitchen kite kitten kiwi knapsack knee knock knoll koala label lacquer ladder ladybug lagoon landlord
language lantern laptop large lark laser lasso lately latitude lattice laugh laundry laurel lava lavender
layout lazy leader leaflet league learn lecture left legend legible leisure lemon length lens lentil leopard
letter level levity liaison liberty library license lifeboat lilac lily lime limit linguist link lion liquid
list literary litmus little lizard llama loaf lobster locale lodge lofty logic lonely longboat lookout loop
lotion lotus loud lounge love lowland loyal lozenge lucid lucky luggage lullaby luminous lunar lunch lung
luxury lyre lyrics macaroni machine maestro magazine magic magnet magpie majestic major make mammal manage
mandarin mango manifest mansion manual maple marathon marble margin marina market marmot maroon marsh marvel
mask mason material matrix matter mature mauve maxim mayfly meadow meal meander measure meatball mechanic
media melody melted member memento memory mention menu mercury merit mermaid message meteor method metric
microbe midday midnight midst migrate milk millet mimic mimosa mindful mineral minimum minnow minstrel
minuet miracle mirror mission mobile moccasin modern modify module moisture molasses mole moment mongoose
monitor monorail month monument moon moped mortar mosaic motor motto mound movie muffin mulberry multiple
museum mushroom music muskrat mustang mutual myrtle mystery myth napkin narrow narwhal nation nautical
navigate nebula necklace nectar needle neon nerve network neutral newborn newcomer news next nibble nice
nickel nineteen noble nobody nocturne noise nominate noodle normal north notable note notice nourish novel
nuance number numeral nursery nutmeg nutrient nuzzle nylon oasis oatmeal obey object oblong oboe observe
obtain obvious occasion occupy ocean octopus offer office offshore often ointment olive once onion online
onlooker onward opal open opera opinion opponent optic orator orbit orchid order ordinary oregano organic
orient origin ornate ostrich otter outback outcome outdoor outfit outlet output outside overall owner oxbow
oxygen oyster pacific pack padlock page paint palace palm pancake panda panel panorama panther papaya paper
papyrus parade parcel parent parfait parka parrot parsley pass pasta pathway patio patrol pattern pavilion
payment peacock peanut pearl pebble pedigree pelican pencil pendulum penguin pennant peony people pepper
percent perfect perhaps period person petition petunia pewter pharmacy pheasant phone photo physics piano
piccolo pickle picnic picture pier piglet pillow pilot pinball ping pinwheel pipe pitch pixel pizza plaid
plank platform play plaza please pledge plenty plover plumber plus plywood pocket poem polish polka pollen
polo polygon pond popcorn poppy popular porch porpoise port position possible postcard potato pottery
poultry power practice prairie precise prefer prelude premier prepare present pretty prevail primary prior
prism private prize problem process produce profile progress project prologue promise proof propel prosper
protein proud provide prudent prune public pudding pulp pulse pumpkin pupil puppet purchase pure purify
purple push pyramid quadrant quail quality quantity quarter quench query quest quick quiet quill quince quiz
quorum quota rabbit raccoon radar radio raft ragtime rail rainbow raisin rally rambler ranch random range
rapid rare ravine reach ready realm reason rebound rebuild recall receive recipe reckon record recruit
recycle reduce redwood reef referee reflect reform refresh refuge regard region regular rehearse reindeer
rejoice relax release relish remain remember remind remote render renew renovate rent repair repeat reply
report reprise request rescue reserve resist resource respect restore result retire retreat return reunion
reveal revise rhapsody rhubarb rhyme rhythm ribbon rich ringlet ripple rise ritual river rivulet roadway
roamer roast robin robot robust rocky rodeo romance rooftop rooster rope rosebud rotate rotunda roundup
routine rowboat rubric ruby rudder ruffle rule runner runway rural rustic saddle safari safe saffron sailor
salad salon salt salute sandwich sapling sapphire sardine satchel satin saucer sauna savanna savings sawdust
sawmill scaffold scale scamper scarf scatter scenic schedule school science scissors scoop score scout
screen script scroll scrub scuba sculptor seafood seaport search seaside seat seaweed secluded second
section security sediment seek segment seldom select semester seminar senior sense sentence separate
sequence serenade series serpent sesame session setting seven shade shallow shampoo sharp shawl sheet shelf
shepherd sherbet shield shimmer shine ship shoe short shoulder shovel showcase shrimp shuffle shut sibling
sidewalk sifter sign silent silo silver similar simple sincere siren sixteen size skate sketch skill skin
skipper skirt skyline skyward sled sleep slender slice slogan slope small smart smile smock smoky smooth
smudge snack snail snapshot sneaker snippet snorkel snowman snuggle soap soccer social soda soft solar
solemn solid soloist solstice solution solve sonata song soprano sorbet sorry south space sparrow spatula
speak special speech spell spend sphere spider spinach spiral splash splendid sponge spoon spot spray spread
spring sprout spruce spur square squirrel stadium staff stage stairs stallion stamp stand staple starfish
stature stay steady steeple stellar stencil stereo steward stick stipend stitch stop story stove straw
stream strive strong study subject submit subtle suburb subway succeed sudden sugar suggest suit summer
sundial sunfish sunlight sunrise sunset superb supply supreme surface surprise surround survey sushi suspend
sustain swan sweater swift swim swing swivel sycamore symmetry symphony synopsis syntax syrup system tablet
tackle taco tadpole tailgate talent talisman tangible tannery tapestry tapioca target tartan taste taxi
teapot teaspoon teeth telegram tell tempo tenant tendril tennis term terrace textile thank theme theory
thermos thesis thick thimble thing third thistle thorough thousand three thrive throw thrush thumb thunder
tiara ticket tidbit tiger tight timeless timpani tinker tinsel tiny titanium title toboggan today toddler
toffee together tomato tomorrow tongue tonight tool tooth topaz topic topsoil tornado tortoise total touch
toward township track trade traffic transit trapeze traverse tray treat treetop trellis tremor trend
triangle tribe tricycle trillion trim trinket triple triumph trivia trolley trombone trophy trouble trowel
true trumpet trunk trust truth tugboat tulip tuna tundra tunnel turbine turkey turmeric turnip turtle tutor
tuxedo twelve twenty twice twig twilight twinkle twist twofold tycoon type typhoon typical ukulele ultimate
umbrella umpire unafraid under undo uneven unfold unicorn uniform unique unison unit universe unknown unlock
unusual unveil unwind upbeat update upgrade uphill upland uplift upper upright upside upstairs upward urban
urgent useful usher usual utensil utility utmost utopia vacant vacuum valid valuable valve vanguard vanilla
vantage variety vase vault vehicle velocity velvet vendor venison venture veranda verb verify verse vertical
vessel viaduct vibrant vicinity victory video view villa vine violet virtue visa visit visual vital vivid
vocal voice volcano volley voltage volume vortex voucher vowel voyage waffle wagon walk wallaby walnut
walrus waltz wander want warbler wardrobe warmth warrior water wedding weekend welcome west wharf wheat
whisper white wicker wide width wild window wingspan winsome winter wireless wisdom wisteria wolf wombat
wooden word workshop wrangler wreath wren wrist writer yacht yearbook yodel yoga yonder young yourself
yuletide zealous zebra zenith zephyr zero zigzag zinc zinnia zipper zodiac zoology zucchini
`
  .trim()
  .split(/\s+/);
