import Foundation

extension ListedKind {
    /// The values of a list, as decoding its JSON gives them.
    ///
    /// - Parameter json: the JSON.
    /// - Returns: the values, without those of another kind; none for bytes that are not JSON list.
    package func values(in json: Data) -> [Value] {
        switch self {
        case .boolean: Self.values(in: json) { .boolean($0) }
        case .integer: Self.values(in: json) { .integer($0) }
        case .float: Self.values(in: json) { (number: Float) in .double(Double(number)) }
        case .double: Self.values(in: json) { .double($0) }
        case .text: Self.values(in: json) { .string($0) }
        case .date: Self.values(in: json) { .date($0) }
        case .uuid: Self.values(in: json) { .uuid($0) }
        case .url: Self.values(in: json) { .url($0) }
        }
    }

    private static func values<Element: Decodable>(in json: Data, _ make: (Element) -> Value) -> [Value] {
        // `[]`
        if json.count < 3 { return [] }
        let decoder = JSONDecoder()
        if let list = try? decoder.decode([Element].self, from: json) { return list.map(make) }
        let list = (try? decoder.decode([Tolerated<Element>].self, from: json)) ?? []
        return list.compactMap { $0.value.map(make) }
    }

    /// A value of a list, which may be of another kind.
    private struct Tolerated<Element: Decodable>: Decodable {
        let value: Element?

        init(from decoder: any Decoder) { value = try? Element(from: decoder) }
    }

    /// The values of a list that an attribute has as JSON, or the values of those that several objects have.
    func values(in value: Value) -> Value {
        switch value {
        case .data(let json): .collection(values(in: json))
        case .collection(let lists): .collection(lists.flatMap { values(in: $0).elements ?? [] })
        default: .collection([])
        }
    }
}
