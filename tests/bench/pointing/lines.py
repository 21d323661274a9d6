"""Labelled lines: questions that only point at another message, and ones that name a subject.

Written for this purpose. A line of `POINTS` cannot be searched for at all without the message it
points at; a line of `NAMES` names at least one thing that a book could be searched for.
The `HELD_OUT` lists are never trained on.
"""

POINTS = """
can you answer that?
could you answer this?
can you answer that one please
please answer
answer this pls
explain this
explain this please
explain that
can you explain this to me?
could you explain that again please
please explain
what does this mean?
what does that mean
what does it mean though
what do they mean by that?
what's this about?
what is this
what is that supposed to mean?
i don't get this
i don't understand this at all
don't understand that, help
help
help please
can you help with this?
can someone help me with that
can you help him
can you help her with her question?
any idea?
any ideas on this
thoughts?
is this right?
is that correct?
is this true
is that really true?
is he right?
is she right about that
is my answer correct?
am i right?
does this make sense?
do you agree?
do you know?
do you know the answer
do you know this one?
you know this?
what do you think?
what about this
what about that one?
and this?
and that one?
this one too please
same question
same question here
i have the same question
i was wondering the same
me too, does anyone know
^ this
^^
see above
see the above
see title
see the title
see attached
see screenshot
see the screenshot
see the file
see my file please
as attached
look at the picture
look at this
look at that please
check this out
check this please
can you check it?
can you check my solution
can you have a look?
have a look at this
can you take a look at this please
read this
summarise this
summarize this please
can you summarize that for me
tl;dr?
tldr please
what's the answer?
what is the answer to this
what's the solution
how do i solve this?
how would you solve that
how do i do this?
how does this work?
how does that work
why is that?
why is this so?
why?
why does it do that
why is this the case
how so?
how come?
really?
huh?
??
???
what?
wait what
what happened here?
what's going on here?
what is happening in this one
what is wrong here?
what's wrong with this?
what did i do wrong
where is my mistake?
where did i go wrong here
can you fix this?
can you solve this
solve this
do this one
can you do number 3?
what about question 2?
the second one please
answer the question above
answer the last question
please answer my question
can you answer my question?
can you answer the question
can you answer her question
could you reply to that
reply to this please
could the bot answer this?
bot, answer this
bot please
maybe the bot knows
ask the bot
lets see what the bot says
where can i read about this?
where is this in the book
where in the book is that
is this in the book?
is that covered?
do we need this?
do we have to know that for the exam
will this be on the exam?
can you translate this
can you rephrase that
say that in simpler words
in english please
kannst du das beantworten?
kannst du das erklären?
erklär das bitte
was heißt das?
was bedeutet das
stimmt das?
ist das richtig?
hilfe
kann mir wer helfen?
siehe oben
siehe anhang
siehe titel
was ist damit gemeint?
versteh ich nicht
wie geht das?
warum ist das so?
"""

NAMES = """
what is a monopoly?
what is inflation
explain elasticity
can you explain the difference between stack and heap?
explain this recursion to me: factorial calls itself, why does it stop?
what does opportunity cost mean?
what does "ceteris paribus" mean
what does the borrow checker do?
what do they mean by marginal utility
is a tomato a fruit in the botanical sense?
is it true that prices fall when supply rises?
is this right: mitochondria make glucose
is that correct, that a binary tree has at most two children?
does a virus count as alive?
do plants respire at night
do you know what osmosis is?
do you know the formula for compound interest
how does photosynthesis work?
how does this loop terminate when i is never incremented
how do i solve a quadratic equation?
how would you balance a redox equation
how do i do integration by parts?
how is gdp measured?
how is it measured in gdp terms?
how do central banks set interest rates
why is the sky blue?
why does demand slope downwards
why is that a recession and not a depression?
why did rome fall?
why does rust need lifetimes
why?? i thought entropy always increases
how come enzymes are not used up
what's the answer to exercise 4.2 on matrices
what is the solution of the wave equation
where can i read about supply shocks?
where is chapter on inheritance in the book
where in the book is the treaty of versailles discussed
is mitosis in the book?
is bayes theorem covered?
do we need the chain rule?
will recursion be on the exam?
do we have to know the krebs cycle for the exam
what is wrong with this sorting algorithm: it compares each pair only once
what's wrong with my for loop, it prints 11 numbers
where is my mistake in the derivative of x^2 sin x
can you fix my null pointer exception?
can you solve 3x + 5 = 20
can you do problem 3 about projectile motion?
what about monopolistic competition?
what about prices?
what about the cell wall
and in winter, how do bees survive?
and inflation?
and the second law of thermodynamics?
same question about variance
i have the same question about tort law
help with normalization of tables
help, my recursion never ends
help me understand opportunity cost
any ideas how to prove that sqrt 2 is irrational
any idea what a pointer is?
thoughts on keynes?
what do you think caused the french revolution
can you help with calculating the standard deviation?
can you summarize the chapter on cell division
summarize supply and demand
tl;dr of the industrial revolution?
can you check whether 17 is prime
look at the demand curve, why does it shift
what happens to unemployment in a recession?
what happens when you divide by zero
what's going on with the double slit experiment?
what is happening during prophase
difference between mean and median
difference tcp udp
definition of liquidity
who was adam smith
who invented calculus
when was the magna carta signed?
when do we use a t test
which enzyme unwinds dna?
which one is faster, quicksort or mergesort?
list the phases of mitosis
give me an example of a public good
give an example of polymorphism please
name three causes of world war one
compare fixed and variable costs
how many bits are in a byte
how many chromosomes do humans have?
is python compiled or interpreted?
are externalities always bad?
are lifetimes inferred?
can a function return nothing?
can a price ceiling cause shortages
should i use a hash map or a list?
does gravity act on light
negligence
market equilibrium
git rebase
borrow checker
gross domestic product
the water cycle
eigenvalues??
what is it called when supply equals demand?
what is this thing called where a function calls itself
what's the word for when prices keep rising
is it possible to have negative interest rates
so basically a monopoly sets the price?
but then why do firms advertise
ok but how does the kidney filter blood
so the derivative of a constant is zero right?
can you explain why that means consumers lose surplus
could you explain the last step of the proof that there are infinitely many primes
i don't get why marginal cost crosses average cost at the minimum
i don't understand pointers
don't understand dijkstra
confused about ownership in rust
stuck on exercise 7: compute the present value of 100
what does const do in c++
what does line 3 do: x = y or z
was ist inflation?
was bedeutet opportunitätskosten
erklär bitte die photosynthese
kannst du rekursion erklären?
warum fällt die nachfrage bei höheren preisen
wie funktioniert der zitronensäurezyklus?
wo steht etwas über den wiener kongress
stimmt es, dass enzyme proteine sind?
ist eine primzahl immer ungerade?
hilfe bei der kettenregel
unterschied zwischen mitose und meiose
wer war kepler?
"""

HELD_OUT_POINTS = """
can u answer him please
would you mind answering that?
could you shed some light on this
someone please explain
explain pls
what's that mean
what did he mean
no clue what this is saying
i am lost here, help
can you clear this up?
is any of that accurate?
is what she said right
sounds wrong to me, is it?
did i get it right?
correct?
right?
what would the answer be
how do you get that?
how did they get there
why would that be
but why
what's the deal with this
can you look into it
please have a look at my file
see file
see pic
it's in the screenshot
my question is in the title
title says it all
the question above ^
that's what i want to know too
+1, want to know as well
can you go through it
please summarise the message above
what is he asking
can you respond
can you tell him
where do i find this
is it in our textbook?
is this relevant for us?
can you put this into plain words
kannst du ihm antworten?
kannst du dir das mal ansehen
was soll das heißen?
ist das so korrekt?
das verstehe ich nicht, kannst du helfen
bitte erklären
"""

HELD_OUT_NAMES = """
what is a black hole?
can u answer what a subsidy is please
would you mind explaining the doppler effect
explain covalent bonds pls
what's that mean: "invisible hand"
what did keynes mean by animal spirits
is it accurate that dna has four bases
did i get it right that velocity is a vector?
how do you get the variance from the standard deviation
why would a firm shut down in the short run
but why is glass transparent
what's the deal with virtual memory
where do i find the definition of consideration
is the cold war in our textbook?
is linear independence relevant for us?
put osmosis into plain words
tell me about habeas corpus
how long is pregnancy in elephants
price floor effects
deadlock
oligopoly vs monopoly
inverse of a matrix
who wrote the federalist papers
when does a contract become binding?
does aspirin thin the blood
is java pass by value?
are viruses bigger than bacteria
so a stack is last in first out?
and for bacteria?
and how about tariffs
what about semicolons, are they optional?
which comes first, transcription or translation
name the layers of the atmosphere
show me an example of a closure
steps of the scientific method
how can i prevent overfitting
my compiler says expected one argument
i get a segfault when i free the list twice
not sure how comparative advantage differs from absolute advantage
what is the largest organ of the human body
what makes something a public good
was ist ein kartell?
wie berechnet man den zinseszins
erkläre den unterschied zwischen haftung und gewährleistung
warum ist der himmel blau?
woran erkennt man eine redoxreaktion
gilt der satz des pythagoras immer?
"""

TERMS = """
opinion, statement, claim, answer, question, meaning, idea, thought, problem, solution, issue,
reason, example, help, truth, doubt, understanding, explanation, context, reference, argument,
proof, error, exception, mistake, result, message, comment, post, thread, reply, title, picture,
belief, knowledge, judgement, inference, assumption, premise, conclusion, hypothesis, theory, law,
fact, evidence, memory, attention, language, grammar, sense, value, identity, self, mind, will,
freedom, power, force, work, energy, heat, light, sound, wave, matter, mass, weight, time, space,
change, motion, rest, state, class, object, method, function, variable, type, pointer, array,
list, loop, scope, closure, trait, module, package, test, mock, stub, bug, patch, branch, commit,
merge, cell, gene, enzyme, hormone, virus, tissue, organ, species, habitat, climate, soil, rock,
river, delta, glacier, market, price, demand, supply, money, credit, debt, tax, trade, labour,
capital, rent, profit, risk, contract, tort, crime, treaty, state power, civil war, public good,
natural right, social contract, free will, common sense, point mutation, null pointer, standard
error, sample mean, answer key, question bank, help desk, chain rule, real number, even function,
second law, first amendment, third party, last resort, other minds, next generation, same sex
marriage, one hot encoding, thing in itself, this keyword, that clause, it department, who
standards
"""

HELD_OUT_TERMS = """
view, position, remark, assertion, query, response, significance, notion, task, remedy, cause,
instance, aid, falsity, certainty, insight, account, source, reasoning, demonstration, fault,
warning, outcome, note, letter, essay, caption, image, faith, wisdom, verdict, guess, axiom,
lemma, model, datum, recall, focus, dialect, syntax, worth, ego, soul, agency, liberty, authority,
impulse, entropy, photon, echo, density, inertia, velocity, phase, interface, instance variable,
lambda, tuple, heap, recursion, fixture, regression, rebase, nucleus, allele, insulin, plasma,
niche, erosion, basalt, estuary, auction, elasticity, deflation, bond, tariff, wage, equity,
annuity, liability, perjury, armistice, rule of law, welfare state, moral hazard, sunk cost,
opportunity cost, tacit knowledge, frame shift, dangling pointer, margin of error, problem of
evil, answer set, question mark, product rule, complex number, odd function, first law, second
amendment, last will, same origin, next state, one way function, how to guide, why questions
"""


def terms(listed: str) -> list[str]:
    """Return the terms of a list."""
    return [one for one in " ".join(listed.split()).split(", ") if one]


FORMS = (
    "What is {}?",
    "what's {}",
    "{}?",
    "explain {}",
    "can you explain {} please",
    "define {}",
    "what does {} mean?",
    "what about {}?",
    "how does {} work?",
    "help with {}",
    "tell me about {}",
    "why is {} important?",
    "what does the book say about {}?",
)
"""Ways to ask for a term; the last sentence of all of them names it."""

ABOUT_MESSAGES = """
answer the message above.
can you explain
could you explain please
please explain it
pls explain
anyone explain?
can somebody explain
explain plz
explain again please
can you answer
could you reply
please respond to it
respond pls
take a look at my screenshot please
could you check my file
how did you get this
how did she get that
is it in the book?
ist das wahr?
ist es so richtig?
schau dir das mal an
kannst du mal schauen
kannst du helfen
answer that please
can you answer that please
can you please answer that
please answer that
could you answer that
explain that please
what about that?
that above that
the question
the question please
can you answer the question
do you have an answer to that
help that please
reply to that
what did that
and that
"""
"""Lines that point, as they stand once "that" is put for whose message it is."""


def lines(listed: str) -> list[str]:
    """Return the lines of a list, without blanks."""
    return [line.strip() for line in listed.splitlines() if line.strip()]
