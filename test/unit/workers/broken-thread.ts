/** A parser thread that cannot start. */
throw new Error('no parser here');
