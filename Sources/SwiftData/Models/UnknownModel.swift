import Foundation

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
