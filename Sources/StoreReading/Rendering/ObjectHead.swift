/// The names under which something else than a property is written among the values of an object.
enum ObjectHead {
    /// The object's URI.
    static let name = "objectID"
    /// What is not there of the values; see `ValueMarks`.
    static let marks = "$marks"

    /// The name under which a property is written: another one if it has one of these names, as a file may say.
    static func property(_ property: String) -> String {
        property == name || property == marks ? "\(property) 2" : property
    }
}
