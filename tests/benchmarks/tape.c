/* The limit for a program of many operations: a tape in C that keeps the partials on the edges, so that the way back has
   no branch. Compiled by the benchmark; nothing of the product uses it. */
#include <math.h>
#include <string.h>

enum { INPUT, ADD, MUL, SIN };

/* Only the values, from the first node to the last. */
double value(long n, const int *code, const int *left, const int *right, double *v) {
    for (long i = 0; i < n; i++) {
        double a = v[left[i]], b = v[right[i]];
        switch (code[i]) {
        case ADD: v[i] = a + b; break;
        case MUL: v[i] = a * b; break;
        case SIN: v[i] = sin(a); break;
        }
    }
    return v[n - 1];
}

/* Values and partials on the way forward, adjoints on the way back. */
double gradient(long n, const int *code, const int *left, const int *right, double *v, double *p, double *q, double *g) {
    for (long i = 0; i < n; i++) {
        double a = v[left[i]], b = v[right[i]];
        switch (code[i]) {
        case ADD: v[i] = a + b; p[i] = 1; q[i] = 1; break;
        case MUL: v[i] = a * b; p[i] = b; q[i] = a; break;
        case SIN: v[i] = sin(a); p[i] = cos(a); q[i] = 0; break;
        default: p[i] = 0; q[i] = 0;
        }
    }
    memset(g, 0, n * sizeof *g);
    g[n - 1] = 1;
    for (long i = n - 1; i >= 0; i--) {
        double s = g[i];
        g[left[i]] += s * p[i];
        g[right[i]] += s * q[i];
    }
    return v[n - 1];
}
