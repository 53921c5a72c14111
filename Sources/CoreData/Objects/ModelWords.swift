/// The words for people that a model's localization dictionary has for its names and messages, each by a key with its kind in front.
struct ModelWords {
    private let dictionary: [String: String]

    init(of object: NSManagedObject) {
        dictionary = object.layout.description.model?.localizationDictionary ?? [:]
    }

    func entity(_ name: String) -> String { dictionary["Entity/\(name)"] ?? name }

    /// The word for a property, which an entity may have its own for.
    func property(_ name: String, of entity: String) -> String {
        dictionary["Property/\(name)/Entity/\(entity)"] ?? dictionary["Property/\(name)"] ?? name
    }

    func errorString(_ message: String) -> String { dictionary["ErrorString/\(message)"] ?? message }
}
