/// The models that a model without a context is related to by one relationship: each once, in the order of the array.
struct RelatedModels {
    /// A related model, kept alive. There is none yet while its initializer runs.
    struct End {
        let state: ModelState
        let model: (any PersistentModel)?

        /// The model, made if there is none.
        var shown: any PersistentModel { model ?? state.shownModel }
    }

    /// Nil in the places of those that were removed.
    private var ends: [End?] = []
    /// The places of the ends, once these are more than a few.
    private var places: [ObjectIdentifier: Int] = [:]
    private var removed = 0
    /// Another number after each change that is not an addition at the end.
    private(set) var generation = 0

    init() {}

    init(_ models: some Sequence<any PersistentModel>) {
        for model in models { if let state = model.modelState { append(state, model) } }
    }

    /// How many places there are, those of removed ends included.
    var placeCount: Int { ends.count }

    var isEmpty: Bool { ends.count == removed }

    var all: some Sequence<End> { ends.lazy.compactMap { $0 } }

    /// The ends from a place on.
    func all(from place: Int) -> some Sequence<End> { ends[place...].lazy.compactMap { $0 } }

    func contains(_ state: ModelState) -> Bool { place(of: state) != nil }

    private func place(of state: ModelState) -> Int? {
        if places.isEmpty { return ends.firstIndex { $0?.state === state } }
        return places[ObjectIdentifier(state)]
    }

    /// - Returns: whether the end is a new one.
    @discardableResult
    mutating func append(_ state: ModelState, _ model: (any PersistentModel)?) -> Bool {
        guard place(of: state) == nil else { return false }
        ends.append(End(state: state, model: model))
        if !places.isEmpty {
            places[ObjectIdentifier(state)] = ends.count - 1
        } else if ends.count > 8 {
            findPlaces()
        }
        return true
    }

    private mutating func findPlaces() {
        places = [:]
        for (place, end) in ends.enumerated() { if let end { places[ObjectIdentifier(end.state)] = place } }
    }

    mutating func remove(_ state: ModelState) {
        guard let place = place(of: state) else { return }
        generation += 1
        places[ObjectIdentifier(state)] = nil
        guard place < ends.count - 1 else {
            ends.removeLast()
            while case .some(nil) = ends.last {
                ends.removeLast()
                removed -= 1
            }
            return
        }
        ends[place] = nil
        removed += 1
        guard removed > 8, removed > ends.count / 2 else { return }
        ends.removeAll { $0 == nil }
        removed = 0
        findPlaces()
    }
}

extension ModelState {
    /// Sets the models that a model without a context is related to, and their inverses.
    ///
    /// - Parameters:
    ///   - property: the relationship.
    ///   - ends: the models.
    ///   - isNil: whether the array is nil.
    func setUnattached(_ property: ModelProperty, _ ends: RelatedModels, isNil: Bool = false) {
        let old = related[property.number]
        kept.removeAll { $0.number == property.number }
        related[property.number] = isNil ? nil : ends
        guard let inverse = InverseTable.inverse(of: property, type) else { return }
        for end in old?.all.filter({ !ends.contains($0.state) }) ?? [] { end.state.disconnect(inverse, self) }
        for end in ends.all where old?.contains(end.state) != true { end.state.connect(inverse, self) }
    }

    /// Adds the other side of a relationship that was set on one side.
    func connect(_ property: ModelProperty, _ other: ModelState) {
        if property.isToMany {
            related[property.number, default: RelatedModels()].append(other, other.model)
        } else {
            // The model that it was related to loses it.
            if let former = related[property.number]?.all.first(where: { _ in true }),
                let inverse = InverseTable.inverse(of: property, type)
            {
                former.state.disconnect(inverse, self)
            }
            var ends = RelatedModels()
            ends.append(other, other.model)
            related[property.number] = ends
        }
    }

    func disconnect(_ property: ModelProperty, _ other: ModelState) { related[property.number]?.remove(other) }
}
