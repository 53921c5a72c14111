// Sorting that is compiled once.
//
// The optimizer copies the standard library's sort to every place that calls it: about 2,500 lines of intermediate
// language and half a second of compile time each. That is only worth it where many elements are sorted repeatedly.
// `@_semantics` prevents the copies from returning as specializations of these generic functions. They sort names of
// entities, columns of a schema, and entries of an error's text.

extension Sequence<String> {
    /// The strings in order.
    ///
    /// Wherever this module is imported, `sorted()` on strings calls this method.
    @inline(never)
    @_semantics("optimize.sil.specialize.generic.never")
    package func sorted() -> [String] {
        var strings = Array(self)
        strings.sort()
        return strings
    }
}

extension Sequence {
    /// The elements in order, like `sorted(by:)`: for few elements, or infrequent use.
    @inline(never)
    @_semantics("optimize.sil.specialize.generic.never")
    package func ordered(by precedes: (Element, Element) throws -> Bool) rethrows -> [Element] {
        try sorted(by: precedes)
    }
}
