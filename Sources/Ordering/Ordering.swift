// Sorting that is compiled once.
//
// The optimizer makes a copy of the standard library's sort for every place that calls it: some 2,500 lines of its
// intermediate language each, half a second of the compiler's time. That pays for itself where many elements are sorted again
// and again, and nowhere else. `@_semantics` keeps the copies from coming back, by way of generics that are specialized for
// each caller. Names of entities, columns in a schema, entries of an error's text are sorted by what is here.

extension Sequence<String> {
    /// The strings in order.
    ///
    /// Wherever this module is imported, this is what `sorted()` means for strings.
    @inline(never)
    @_semantics("optimize.sil.specialize.generic.never")
    package func sorted() -> [String] {
        var strings = Array(self)
        strings.sort()
        return strings
    }
}

extension Sequence {
    /// The elements in order, like `sorted(by:)`: for few elements, or rarely many.
    @inline(never)
    @_semantics("optimize.sil.specialize.generic.never")
    package func ordered(by precedes: (Element, Element) throws -> Bool) rethrows -> [Element] {
        try sorted(by: precedes)
    }
}
