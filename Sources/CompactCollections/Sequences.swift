// The standard library's methods that take closures, compiled once.
//
// The optimizer copies each of them to every place that calls it: 4 ms of compile time for a `map`, 45 for a
// `sorted(by:)`. A file that imports this module calls these in their place: they have the same names and signatures,
// and a declaration outside the standard library shadows one within it. An element costs some tens of nanoseconds more,
// so files that work on models, schemas and messages import it, and files that work on rows and objects do not.
//
// `@_semantics` prevents the copies from returning as specializations of these generic functions.

extension Sequence {
    /// What a closure makes of each element, in order.
    @inline(never)
    @_semantics("optimize.sil.specialize.generic.never")
    package func map<T, E>(_ transform: (Element) throws(E) -> T) throws(E) -> [T] {
        var result: [T] = []
        result.reserveCapacity(underestimatedCount)
        for element in self { result.append(try transform(element)) }
        return result
    }

    /// What a closure makes of each element, in order, without what is nil.
    @inline(never)
    @_semantics("optimize.sil.specialize.generic.never")
    package func compactMap<ElementOfResult>(
        _ transform: (Element) throws -> ElementOfResult?
    ) rethrows -> [ElementOfResult] {
        var result: [ElementOfResult] = []
        for element in self {
            if let made = try transform(element) { result.append(made) }
        }
        return result
    }

    /// The elements of the sequences that a closure makes of each element, in order.
    @inline(never)
    @_semantics("optimize.sil.specialize.generic.never")
    package func flatMap<SegmentOfResult: Sequence>(
        _ transform: (Element) throws -> SegmentOfResult
    ) rethrows -> [SegmentOfResult.Element] {
        var result: [SegmentOfResult.Element] = []
        for element in self { result.append(contentsOf: try transform(element)) }
        return result
    }

    /// The elements that a closure accepts, in order.
    @inline(never)
    @_semantics("optimize.sil.specialize.generic.never")
    package __consuming func filter(_ isIncluded: (Element) throws -> Bool) rethrows -> [Element] {
        var result: [Element] = []
        for element in self where try isIncluded(element) { result.append(element) }
        return result
    }

    /// Whether a closure accepts an element.
    @inline(never)
    @_semantics("optimize.sil.specialize.generic.never")
    package func contains(where predicate: (Element) throws -> Bool) rethrows -> Bool {
        for element in self where try predicate(element) { return true }
        return false
    }

    /// Whether a closure accepts all elements.
    @inline(never)
    @_semantics("optimize.sil.specialize.generic.never")
    package func allSatisfy(_ predicate: (Element) throws -> Bool) rethrows -> Bool {
        for element in self where !(try predicate(element)) { return false }
        return true
    }

    /// The first element that a closure accepts; nil if there is none.
    @inline(never)
    @_semantics("optimize.sil.specialize.generic.never")
    package func first(where predicate: (Element) throws -> Bool) rethrows -> Element? {
        for element in self where try predicate(element) { return element }
        return nil
    }

    /// The elements in an order, those that are equal in it as they were.
    @inline(never)
    @_semantics("optimize.sil.specialize.generic.never")
    package func sorted(by areInIncreasingOrder: (Element, Element) throws -> Bool) rethrows -> [Element] {
        var result = Array(self)
        try result.sort(by: areInIncreasingOrder)
        return result
    }
}

extension Collection {
    /// What a closure makes of each element, in order.
    @inline(never)
    @_semantics("optimize.sil.specialize.generic.never")
    package func map<T, E>(_ transform: (Element) throws(E) -> T) throws(E) -> [T] {
        var result: [T] = []
        result.reserveCapacity(count)
        for element in self { result.append(try transform(element)) }
        return result
    }

    /// The place of the first element that a closure accepts; nil if there is none.
    @inline(never)
    @_semantics("optimize.sil.specialize.generic.never")
    package func firstIndex(where predicate: (Element) throws -> Bool) rethrows -> Index? {
        for index in indices where try predicate(self[index]) { return index }
        return nil
    }
}

extension RangeReplaceableCollection where Self: MutableCollection {
    /// Removes the elements that a closure accepts.
    @inline(never)
    @_semantics("optimize.sil.specialize.generic.never")
    package mutating func removeAll(where shouldBeRemoved: (Element) throws -> Bool) rethrows {
        var kept = Self()
        for element in self where !(try shouldBeRemoved(element)) { kept.append(element) }
        self = kept
    }
}
