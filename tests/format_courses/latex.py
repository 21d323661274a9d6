"""A LaTeX book: chapters in files, own macros, labels, tables, code, what is commented out."""

COURSE = {
    "book.tex": r"""\documentclass{book}
\usepackage[utf8]{inputenc}
\title{On the \emph{sea}}
\author{Ada Reed}
\newcommand{\tide}{ebb and flow}
\newcommand{\harbour}[2][Arden]{the harbour of #1, \textbf{#2 m} deep}
\def\twice#1{#1 and #1}
\newtheorem{thm}{Theorem}
\begin{document}
\maketitle
\tableofcontents
% \input{commented}
\include{chapters/tides}
\input{chapters/_waves}
\input{chapters/gone}
\end{document}
""",
    "chapters/tides.tex": r"""\chapter{Tides}\label{ch:tides}
The tide --- that is \tide{} --- rises \emph{twice} a day~\cite{reed}, see \ref{ch:tides} and
Table~\ref{tab:heights}. It costs 5\,\% of ``all'' in \harbour{4}, \harbour[Caf\'e]{5};
\twice{wait}.%
\footnote{Said by a keeper.}

\section{Summary}
\begin{itemize}
  \item Wait for the moon:
  \begin{enumerate}
    \item new moon
    \item full moon

    Then look again.
  \end{enumerate}
  \item[Ebb] the falling tide
\end{itemize}
\begin{equation}\label{eq:h}
  h = a \cos t
\end{equation}
Then \(x_1\), and $y$, follow.
\[ z = 1 \]
\begin{align*}
  a &= b \\
  c &= d
\end{align*}
\begin{table}
  \caption{Heights of the \textit{tide}}\label{tab:heights}
  \begin{tabular}{l|r}
    \hline
    harbour & height \\ \hline
    Arden & \multicolumn{1}{c}{4 m} \\
  \end{tabular}
\end{table}
\begin{figure}
  \includegraphics[width=2cm]{gauge}
  \caption{A gauge}
\end{figure}
\begin{lstlisting}[language=Python]
def rise():  # { % \begin{x
    return 4
\end{lstlisting}
\begin{thm}[Reed]
Every tide ends.
\end{thm}
\begin{tikzpicture}\draw (0,0);\end{tikzpicture}
\section{Summary}
\unknown{Its words} stay; \href{https://elsewhere.example}{a link} and \verb|x  y|.
""",
    "chapters/_waves.tex": "\\chapter*{Waves}\nWaves run.\n\\input{chapters/deeper}\n",
    "chapters/deeper.tex": "\\section{Foam}\nFoam is air.\n",
    "notes/alone.tex": "\\section{Alone}\nA note that no document includes.\n",
    "edition-2/book.tex": "\\documentclass{article}\\begin{document}\\section{New}The new edition."
    "\\end{document}",
}
