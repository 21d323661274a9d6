"""A Sphinx site: toctrees in toctrees, includes, labels, twice one heading, an old edition."""

COURSE = {
    "conf.py": """\
project = "The sea"
html_baseurl = "https://course.example/book/"
exclude_patterns = ["_build", "edition-2023", "drafts/*"]
raise SystemExit("this is never run")
""",
    "index.rst": """\
:orphan:

==========
On the sea
==========

A course on the sea.

.. toctree::
   :caption: Water
   :maxdepth: 2

   tides
   Waves at sea <waves/index>
   gone
   https://elsewhere.example
   self
""",
    "tides.rst": """\
.. _high-tides:

Tides
=====

The tide *rises* **twice** a day, see :ref:`high-tides`, :ref:`other-page`, :doc:`waves/index` and
:doc:`the waves <waves/index>`; :func:`~sea.rise` and :py:class:`sea.Tide` compute it, |unset|.
A footnote [#one]_, :math:`h = a`, and ``x  y``; :unknown:`role words <x>`.

.. [#one] Said in a note.

Summary
-------

#. Wait for the moon.

   Then look again.

#. Measure:

   - the height
   - the hour

Ebb
    The falling tide.

    It lasts six hours.

.. warning:: Mind the tide.

   It comes fast.

.. admonition:: On foot

   Never alone.

.. code-block:: python
   :caption: Rise
   :linenos:

   def rise():
       return 4

.. math::
   :label: height

   h = a \\cos t

.. figure:: gauge.png
   :alt: A gauge

   A gauge in its *pipe*.

.. list-table:: Heights
   :header-rows: 1

   * - harbour
     - height
   * - Arden
     - 4 m

.. include:: _parts/note.inc
.. literalinclude:: code/rise.py
   :language: python
   :lines: 2-3

.. tab-set::

   .. tab-item:: In winter

      Tides are higher.

.. py:function:: rise(harbour, *, day=1)
   :no-index:

   Return the height.

.. versionadded:: 2.0

.. strange:: of some extension
   :option: x

   Its words stay.

.. only:: html

   Only on the web.

.. automodule:: sea

.. raw:: html

   <p>raw</p>

.. comment of the author

Summary
-------

======  ======
a       b
======  ======
1       2
======  ======

.. list-table:: Broken

   no list at all
""",
    "_parts/note.inc": "A note of *all* pages.\n\n.. include:: deeper.inc\n",
    "_parts/deeper.inc": "Deeper still.\n",
    "code/rise.py": "# sea\ndef rise():\n    return 4\n# end\n",
    "waves/index.rst": """\
Waves
#####

.. toctree::
   :glob:

   */break*
   ../tides

Waves run.
""",
    "waves/north/breakers.rst": "Breakers\n========\n\nA breaker breaks.\n",
    "orphan.rst": "Orphan\n======\n\nIn no toctree.\n",
    "more.md": "# More\n\nIn Markdown.\n",
    "_templates/page.html": "<html><body>{{ body }}</body></html>",
    "edition-2023/index.rst": "Old\n===\n\nThe course of 2023.\n",
    "drafts/later.rst": "Later\n=====\n\nNot yet.\n",
    "_build/html/index.html": "<html><body><p>Made.</p></body></html>",
}
