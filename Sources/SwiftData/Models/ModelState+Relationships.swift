import CoreData

extension ModelState {
    /// Whether an optional array has been set, or is one of an inserted model, which always has an array.
    func hasCollection(_ property: ModelProperty) -> Bool { object != nil || related[property.number] != nil }

    func relatedModels(_ property: ModelProperty) -> [any PersistentModel] {
        if let recorder { return recorder.destination(property, of: self) }
        guard let object, let binding else { return related[property.number]?.all.map(\.shown) ?? [] }
        guard let context else { return [] }
        return binding.related(property, of: object).map { context.model(of: $0) }
    }

    /// Sets the models that the model is related to, and their inverses. If one of them belongs to a context, all do
    /// from then on.
    ///
    /// - Parameters:
    ///   - property: the relationship.
    ///   - models: the models, in any order.
    ///   - isNil: whether the array is nil.
    func setRelated(_ property: ModelProperty, _ models: [any PersistentModel], isNil: Bool = false) {
        let ends = RelatedModels(models)
        if object == nil, let context = ends.all.compactMap(\.state.context).first(where: { _ in true }) {
            context.attach(self)
        }
        guard let object, let binding else { return setUnattached(property, ends, isNil: isNil) }
        guard let context else { return }
        for end in ends.all { context.attach(end.state) }
        let objects = ends.all.compactMap { context.object(of: $0.state) }
        changing(property) { binding.setRelated(property, of: object, objects) }
        context.noteChange(of: type)
    }
}
