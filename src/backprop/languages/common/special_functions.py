"""Special functions that the module Math of JavaScript lacks, written in JavaScript: nearly all digits of a double.

They follow the formulas of the NIST Digital Library of Mathematical Functions (https://dlmf.nist.gov), whose numbers
stand beside them. Each text is complete: what a function needs is in it.
"""

from __future__ import annotations

ERROR_FUNCTIONS = """\
// exp(-x^2); the square of the first half of the digits is exact
function bell(x) {
    const near = Math.fround(x);
    return Math.exp(-near*near)*Math.exp((near - x)*(near + x));
}

// DLMF 7.6.2: no term is negative, so that nothing cancels
function erf(x) {
    if (!(Math.abs(x) < 2)) {
        return Math.sign(x)*(1 - erfc(Math.abs(x)));
    }
    let term = x, sum = x;
    for (let n = 1; Math.abs(term) > 1e-17*Math.abs(sum); n++) {
        term *= 2*x*x/(2*n + 1);
        sum += term;
    }
    return 2/Math.sqrt(Math.PI)*bell(x)*sum;
}

// DLMF 7.9.1: a continued fraction, from its end
function erfc(x) {
    if (x < 1) {
        return 1 - erf(x);
    }
    if (x > 28) {
        return 0;
    }
    let rest = x;
    for (let n = 20 + Math.ceil(160/(x*x)); n > 0; n--) {
        rest = x + n/2/rest;
    }
    return bell(x)/Math.sqrt(Math.PI)/rest;
}"""

# the coefficients (-1)^k (zeta(k) - 1)/k of DLMF 5.7.3, from k = 2 on
_ZETA = (
    "0.3224670334241132, -0.0673523010531981, 0.020580808427784546, -0.007385551028673986, 0.0028905103307415234",
    "-0.001192753911703261, 0.0005096695247430425, -0.00022315475845357939, 9.945751278180853e-05",
    "-4.492623673813314e-05, 2.050721277567069e-05, -9.439488275268397e-06, 4.374866789907488e-06",
    "-2.039215753801366e-06, 9.55141213040742e-07, -4.492469198764566e-07, 2.1207184805554665e-07",
    "-1.0043224823968099e-07, 4.7698101693639804e-08, -2.2711094608943164e-08, 1.0838659214896955e-08",
    "-5.183475041970047e-09, 2.4836745438024785e-09, -1.1921401405860912e-09, 5.731367241678862e-10",
)

GAMMA_FUNCTIONS = """\
const ZETA = [
    ZETA_COEFFICIENTS,
];

// DLMF 5.11.1: what Stirling's formula for log(gamma(x)) lacks, for x >= 10
function stirling(x) {
    const y = 1/(x*x);
    return (1/12 - y*(1/360 - y*(1/1260 - y*(1/1680 - y*(1/1188 - y*(691/360360 - y/156))))))/x;
}

// two factors of gamma(x) for x > 0, for their product may be too large
function factors(x) {
    let below = 1;
    for (; x < 10; x++) {
        below *= x;
    }
    const half = Math.pow(x, x/2 - 0.25);
    return [half*Math.exp(-x), half*Math.sqrt(2*Math.PI)*Math.exp(stirling(x))/below];
}

// sin(pi*x), for a fraction that is exact
function wave(x) {
    const whole = Math.round(x);
    return (whole % 2 === 0 ? 1 : -1)*Math.sin(Math.PI*(x - whole));
}

function gamma(x) {
    if (x <= 0 && x === Math.floor(x)) {
        return NaN;
    }
    if (x < 0.5) {  // DLMF 5.5.3
        const [one, other] = factors(1 - x);
        return Math.PI/wave(x)/one/other;
    }
    if (x <= 23 && x === Math.floor(x)) {
        let product = 1;
        for (let n = 2; n < x; n++) {
            product *= n;
        }
        return product;
    }
    const [one, other] = factors(x);
    return x > 172 ? Infinity : one*other;
}

function lgamma(x) {
    if (x <= 0 && x === Math.floor(x)) {
        return NaN;
    }
    if (x < 0) {
        return Math.log(Math.PI/Math.abs(wave(x))) - lgamma(1 - x);
    }
    if (x < 0.5) {
        return lgamma(1 + x) - Math.log(x);
    }
    if (x < 2.5) {  // DLMF 5.7.3: around 1 and 2, where it is 0
        const z = x < 1.5 ? x - 1 : x - 2;
        const sum = z*(0.42278433509846713 + z*ZETA.reduceRight((rest, one) => rest*z + one, 0));
        return x < 1.5 ? sum - Math.log1p(z) : sum;
    }
    if (x < 10) {
        return Math.log(gamma(x));
    }
    return (x - 0.5)*Math.log(x) - x + 0.9189385332046727 + stirling(x);
}""".replace("ZETA_COEFFICIENTS", ",\n    ".join(_ZETA))

POLYGAMMA = """\
const BERNOULLI = [1/6, -1/30, 1/42, -1/30, 5/66, -691/2730, 7/6, -3617/510, 43867/798, -174611/330];

// the n-th derivative of digamma, for n up to 170
function polygamma(n, x) {
    if (!(n >= 0 && n <= 170 && n === Math.floor(n)) || (x <= 0 && x === Math.floor(x))) {
        return NaN;
    }
    if (x < 0) {  // DLMF 5.15.6: the derivatives of cot(pi*x), as polynomials in it
        let slopes = [0, 1];
        for (let order = 0; order < n; order++) {
            const next = new Array(slopes.length + 1).fill(0);
            slopes.forEach((one, power) => {
                next[power + 1] -= power*one;
                if (power > 0) {
                    next[power - 1] -= power*one;
                }
            });
            slopes = next;
        }
        const cot = 1/Math.tan(Math.PI*(x - Math.round(x)));
        const slope = Math.pow(Math.PI, n + 1)*slopes.reduceRight((rest, one) => rest*cot + one, 0);
        return (n % 2 === 0 ? 1 : -1)*polygamma(n, 1 - x) - slope;
    }
    let sum = 0, factorial = 1;
    for (let order = 2; order <= n; order++) {
        factorial *= order;
    }
    for (; x < n + 12; x++) {  // DLMF 5.15.5
        sum += Math.pow(x, -n - 1);
    }
    // DLMF 5.11.2 and 5.15.8
    sum += (n === 0 ? -Math.log(x) : Math.pow(x, -n)/n) + Math.pow(x, -n - 1)/2;
    let term = (n + 1)/2*Math.pow(x, -n - 2);
    BERNOULLI.forEach((one, k) => {
        sum += one*term;
        term *= (2*k + n + 2)*(2*k + n + 3)/((2*k + 3)*(2*k + 4))/(x*x);
    });
    return (n % 2 === 0 ? -1 : 1)*factorial*sum;
}"""
