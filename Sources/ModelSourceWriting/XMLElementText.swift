import KeyedArchives
import ModelFiles

/// An element of a source model as text: attributes in the given order, four spaces per level, as Xcode writes them.
/// Pure.
struct XMLElementText: Equatable {
    let name: String
    private(set) var attributes: [(name: String, value: String)] = []
    var children: [XMLElementText] = []

    init(_ name: String) { self.name = name }

    /// Adds an attribute; `nil` adds none.
    @inline(never)
    mutating func set(_ name: String, _ value: String?) {
        if let value { attributes.append((name, value)) }
    }

    /// Adds `YES`, or nothing.
    mutating func set(_ name: String, _ value: Bool) { set(name, value ? "YES" : nil) }

    static func == (left: XMLElementText, right: XMLElementText) -> Bool {
        left.name == right.name && left.children == right.children
            && left.attributes.elementsEqual(right.attributes) { $0 == $1 }
    }

    /// The element and its content, without a line break at the end.
    ///
    /// - Throws: `ModelFileError` with the place of a text that XML cannot contain.
    func text() throws -> String { try text(margin: "", path: []) }

    /// - Parameters:
    ///   - margin: the white space before each line.
    ///   - path: the enclosing elements, for errors.
    /// - Returns: the XML of the element.
    /// - Throws: an error that names the element with text that XML cannot contain.
    private func text(margin: String, path: [String]) throws -> String {
        let key = attributes.first { $0.name == "name" || $0.name == "key" }
        let list = try attributes.map { attribute in
            do { return " \(attribute.name)=\"\(try XMLText.attributeValue(attribute.value))\"" } catch {
                let own = key.map { $0 == attribute ? name : "\(name) “\($0.value)”" } ?? name
                let place = (path + [own]).joined(separator: ", ")
                throw ModelFileError(.unwritable, reason: "“\(attribute.name)” of \(place): \(error)")
            }
        }.joined()
        if children.isEmpty { return "\(margin)<\(name)\(list)/>" }
        let inside = path + (key.map { ["\(name) “\($0.value)”"] } ?? [])
        let content = try children.map { try $0.text(margin: margin + "    ", path: inside) }
        return "\(margin)<\(name)\(list)>\n\(content.joined(separator: "\n"))\n\(margin)</\(name)>"
    }
}
