extension Set {
    /// The elements of a sequence.
    @inline(never)
    @_semantics("optimize.sil.specialize.generic.never")
    package init<Source: Sequence>(_ sequence: __owned Source) where Source.Element == Element {
        if let set = sequence as? Set<Element> {
            self = set
            return
        }
        self.init(minimumCapacity: sequence.underestimatedCount)
        for element in sequence { insert(element) }
    }

    /// The elements of both.
    @inline(never)
    @_semantics("optimize.sil.specialize.generic.never")
    package __consuming func union<S: Sequence>(_ other: __owned S) -> Set<Element> where S.Element == Element {
        var result = self
        for element in other { result.insert(element) }
        return result
    }

    /// Adds the elements of a sequence.
    @inline(never)
    @_semantics("optimize.sil.specialize.generic.never")
    package mutating func formUnion<S: Sequence>(_ other: __owned S) where S.Element == Element {
        for element in other { insert(element) }
    }

    /// The elements that another set does not have.
    @inline(never)
    @_semantics("optimize.sil.specialize.generic.never")
    package __consuming func subtracting(_ other: Set<Element>) -> Set<Element> {
        var result = self
        for element in other { result.remove(element) }
        return result
    }

    /// The elements that a sequence does not have.
    @inline(never)
    @_semantics("optimize.sil.specialize.generic.never")
    package __consuming func subtracting<S: Sequence>(_ other: S) -> Set<Element> where S.Element == Element {
        var result = self
        for element in other { result.remove(element) }
        return result
    }
}
