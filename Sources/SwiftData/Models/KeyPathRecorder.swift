import CoreData
import Foundation

/// Finds the names in a key path, such as `\Book.author?.name`.
///
/// To the compiler a persisted property is computed, so that its key path has no name. A model that stands for others
/// is read through the key path: its state notes the properties, and answers relationships with further such models.
final class KeyPathRecorder {
    private var names: [String] = []
    private var last: ModelProperty?
    /// The state from which the next property must be read; nil after an attribute.
    private var next: ModelState?
    /// Whether properties were read differently from a key path of persisted ones.
    private var isOther = false
    /// Models that were answered, kept until the key path was read.
    private var models: [any PersistentModel] = []

    /// The names that a key path from a model class reads, and the last property.
    ///
    /// - Returns: nil for a key path that does not lead to a persisted property; no names for the identifier.
    static func path(_ keyPath: AnyKeyPath, of type: ModelType) -> (names: [String], property: ModelProperty?)? {
        let steps = KeyPathSteps(keyPath)
        if steps.leadIntoCollection { return nil }
        let recorder = KeyPathRecorder()
        let model = recorder.makeModel(type)
        let result = (model as Any)[keyPath: keyPath]
        guard !recorder.isOther, recorder.next == nil || !recorder.names.isEmpty else { return nil }
        var names = recorder.names
        // Stored properties of a struct have names in the key path itself.
        let rest = steps.types.dropFirst(recorder.count)
        guard steps.types.count >= recorder.count else { return nil }
        // A computed property has read the last one, too, and made another value of it.
        if rest.isEmpty, !recorder.returned(result) { return nil }
        if !rest.isEmpty {
            guard let property = recorder.last, case .attribute(.composite(let shape)) = property.kind,
                shape.hasElement(at: rest.map(String.init))
            else { return nil }
            names += rest.map(String.init)
        }
        return (names, recorder.last)
    }

    /// How many properties were read, the identifier included.
    private var count = 0

    private func makeModel(_ type: ModelType) -> any PersistentModel {
        let state = ModelState(type)
        state.recorder = self
        next = state
        let model = state.shownModel
        models.append(model)
        return model
    }

    /// The value of the property that was read last; nil where any will do.
    private var value: AnyHashable?

    /// Whether a key path gives what the property has that was read last.
    private func returned(_ result: Any?) -> Bool {
        guard let value else { return true }
        return StoredValue.unwrapped(result) as? AnyHashable == value
    }

    func note(_ property: ModelProperty, of state: ModelState, value: Any? = nil) {
        if state !== next { isOther = true }
        count += 1
        names.append(property.name)
        (last, next) = (property, nil)
        self.value = StoredValue.unwrapped(value) as? AnyHashable
    }

    func noteIdentifier(of state: ModelState) {
        if state !== next { isOther = true }
        count += 1
        (last, next, value) = (nil, nil, nil)
    }

    func destination(_ property: ModelProperty, of state: ModelState) -> [any PersistentModel] {
        note(property, of: state)
        guard case .toOne(let type) = property.kind else { return [] }
        return [makeModel(ModelType.of(type))]
    }
}

extension CompositeShape {
    /// Whether names lead to an element, through elements that are composite themselves.
    func hasElement(at names: [String]) -> Bool {
        guard let name = names.first, let element = element(named: name) else { return false }
        guard names.count > 1 else { return true }
        guard case .value(.composite(let inner)) = element.content else { return false }
        return inner.hasElement(at: Array(names.dropFirst()))
    }
}

/// A model whose class the program does not have, for identifiers that lead to one. It has no properties.
final class UnknownModel: PersistentModel {
    var persistentBackingData: any BackingData<UnknownModel>
    static var schemaMetadata: [Schema.PropertyMetadata] { [] }

    init(backingData: any BackingData<UnknownModel>) { persistentBackingData = backingData }
}

extension ModelState {
    /// A model that is gone, and shows the initial values of its class.
    ///
    /// - Parameters:
    ///   - type: the class; nil for one that the program does not have.
    ///   - identifier: the identifier that it had.
    /// - Returns: the model.
    static func vanished(_ type: ModelType?, _ identifier: PersistentIdentifier) -> any PersistentModel {
        let type = type ?? ModelType.of(UnknownModel.self)
        let state = ModelState(type)
        state.leave(with: type.initialValues, formerly: identifier)
        return state.shownModel
    }
}
