import Foundation
import TestSupport
import Testing

@testable import Pippin

/// How a type is coded, by whoever wrote it.
private enum Way: CaseIterable, Sendable {
    /// Each value by its key.
    case keyed
    /// A key, and the rest as a single value of the same coder, in either order.
    case keyedThenSingle, singleThenKeyed
    /// A key, and the rest from the same coder.
    case keyedThenInner
    /// All as one single value.
    case single
    /// As one text.
    case text
    case nested, list
}

private struct Inner: Codable, Equatable, Sendable {
    var x: Int
    var y: String
}

private struct Pair: Codable {
    var mark: String
    var inner: Inner
}

/// A value that is decoded in one way and encoded in another.
private struct Outer: Codable, Equatable, Sendable {
    static let ways = Locked<(decoding: Way, encoding: Way)>((.keyed, .keyed))
    var mark: String
    var inner: Inner

    enum CodingKeys: CodingKey { case mark, inner }
    private struct Malformed: Error {}

    init(mark: String, inner: Inner) { (self.mark, self.inner) = (mark, inner) }

    init(from decoder: any Decoder) throws {
        switch Self.ways.withLock({ $0.decoding }) {
        case .keyed:
            let values = try decoder.container(keyedBy: CodingKeys.self)
            mark = try values.decode(String.self, forKey: .mark)
            inner = try values.decode(Inner.self, forKey: .inner)
        case .keyedThenSingle:
            mark = try decoder.container(keyedBy: CodingKeys.self).decode(String.self, forKey: .mark)
            inner = try decoder.singleValueContainer().decode(Inner.self)
        case .singleThenKeyed:
            inner = try decoder.singleValueContainer().decode(Inner.self)
            mark = try decoder.container(keyedBy: CodingKeys.self).decode(String.self, forKey: .mark)
        case .keyedThenInner:
            mark = try decoder.container(keyedBy: CodingKeys.self).decode(String.self, forKey: .mark)
            inner = try Inner(from: decoder)
        case .single:
            let pair = try decoder.singleValueContainer().decode(Pair.self)
            (mark, inner) = (pair.mark, pair.inner)
        case .text:
            let parts = try decoder.singleValueContainer().decode(String.self).split(separator: "|")
            guard parts.count == 3, let x = Int(parts[1]) else { throw Malformed() }
            (mark, inner) = (String(parts[0]), Inner(x: x, y: String(parts[2])))
        case .nested:
            let values = try decoder.container(keyedBy: CodingKeys.self)
            mark = try values.decode(String.self, forKey: .mark)
            let nested = try values.nestedContainer(keyedBy: InnerKeys.self, forKey: .inner)
            inner = Inner(x: try nested.decode(Int.self, forKey: .x), y: try nested.decode(String.self, forKey: .y))
        case .list:
            var values = try decoder.unkeyedContainer()
            mark = try values.decode(String.self)
            inner = try values.decode(Inner.self)
        }
    }

    private enum InnerKeys: CodingKey { case x, y }

    func encode(to encoder: any Encoder) throws {
        switch Self.ways.withLock({ $0.encoding }) {
        case .keyed:
            var values = encoder.container(keyedBy: CodingKeys.self)
            try values.encode(mark, forKey: .mark)
            try values.encode(inner, forKey: .inner)
        case .keyedThenSingle, .keyedThenInner:
            var values = encoder.container(keyedBy: CodingKeys.self)
            try values.encode(mark, forKey: .mark)
            try inner.encode(to: encoder)
        case .singleThenKeyed:
            try inner.encode(to: encoder)
            var values = encoder.container(keyedBy: CodingKeys.self)
            try values.encode(mark, forKey: .mark)
        case .single:
            var value = encoder.singleValueContainer()
            try value.encode(Pair(mark: mark, inner: inner))
        case .text:
            var value = encoder.singleValueContainer()
            try value.encode("\(mark)|\(inner.x)|\(inner.y)")
        case .nested:
            var values = encoder.container(keyedBy: CodingKeys.self)
            try values.encode(mark, forKey: .mark)
            var nested = values.nestedContainer(keyedBy: InnerKeys.self, forKey: .inner)
            try nested.encode(inner.x, forKey: .x)
            try nested.encode(inner.y, forKey: .y)
        case .list:
            var values = encoder.unkeyedContainer()
            try values.encode(mark)
            try values.encode(inner)
        }
    }
}

/// A wrapper as other people write them: a single value around any other.
@propertyWrapper
private struct Wrapped<Value: Codable & Equatable & Sendable>: Codable, Equatable, Sendable {
    var wrappedValue: Value
    init(wrappedValue: Value) { self.wrappedValue = wrappedValue }
    init(from decoder: any Decoder) throws {
        wrappedValue = try decoder.singleValueContainer().decode(Value.self)
    }
    func encode(to encoder: any Encoder) throws {
        var value = encoder.singleValueContainer()
        try value.encode(wrappedValue)
    }
}

private struct Holder: CoreModel, Equatable {
    let id: Int
    var outer: Outer
}

private struct MaybeHolder: CoreModel, Equatable {
    let id: Int
    var outer: Outer?
    var other: Outer?
}

private struct BoxHolder: CoreModel, Equatable {
    struct Box: Codable, Equatable { var name: String; var outer: Outer }
    let id: Int
    var box: Box
}

private struct ListHolder: CoreModel, Equatable {
    let id: Int
    var outers: [Outer]
    var named: [String: Outer]
}

private struct WrappedHolder: CoreModel, Equatable {
    let id: Int
    @Wrapped var outer: Outer
    @Wrapped var inner: Inner
    @Wrapped var number: Int
    @Wrapped var date: Date
    @Wrapped var numbers: [Int]
    @Wrapped var named: [String: Int]
    @Wrapped var maybe: Inner?
}

/// A model that is coded in such ways itself.
private struct WholeModel: CoreModel, Equatable {
    let id: Int
    var inner: Inner
    enum CodingKeys: CodingKey { case id }

    init(id: Int, inner: Inner) { (self.id, self.inner) = (id, inner) }

    init(from decoder: any Decoder) throws {
        if Outer.ways.withLock({ $0.decoding }) == .singleThenKeyed {
            inner = try decoder.singleValueContainer().decode(Inner.self)
            id = try decoder.container(keyedBy: CodingKeys.self).decode(Int.self, forKey: .id)
        } else {
            id = try decoder.container(keyedBy: CodingKeys.self).decode(Int.self, forKey: .id)
            inner = try decoder.singleValueContainer().decode(Inner.self)
        }
    }

    func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(id, forKey: .id)
        try inner.encode(to: encoder)
    }
}

@CoreModel
private struct MacroHolder: Equatable {
    let id: Int
    var outer: Outer
}

@Suite("Ways of coding", .serialized)
struct CodingWayTests {
    private static let outer = Outer(mark: "m", inner: Inner(x: 3, y: "why"))

    /// Whether a model that JSON returns comes back from a store, too, or its type is refused when the store is opened.
    private func comesBack<Model: CoreModel & Equatable>(_ models: [Model]) async throws -> Bool {
        let json = try? JSONEncoder().encode(models)
        guard let json, (try? JSONDecoder().decode([Model].self, from: json)) == models else { return false }
        let ways = "\(Model.self) \(Outer.ways.withLock { $0 })"
        let manager = PersistenceManager(models: Model.self, store: .memory)
        do { try await manager.load() } catch let error as PersistenceError {
            #expect(error.code == .notDerivable, "\(ways): \(error)")
            let reason = error.reason ?? ""
            #expect(reason.contains(".json") || reason.contains("Prototyped"), "\(ways): \(error)")
            return false
        }
        do {
            try await manager.save(models)
            #expect(try await manager.fetch(Model.self, sortedBy: .ascending(\.id)) == models, "\(ways)")
            // They are not changes.
            #expect(try await manager.importModels(models).unchanged == models.count, "\(ways)")
        } catch { Issue.record("\(ways): \(error)") }
        return true
    }

    @Test("give back what JSON gives back, in each place of a model, or are refused when the store is opened")
    func all() async throws {
        defer { Outer.ways.withLock { $0 = (.keyed, .keyed) } }
        let (outer, inner) = (Self.outer, Self.outer.inner)
        var count = 0
        for decoding in Way.allCases {
            for encoding in Way.allCases {
                Outer.ways.withLock { $0 = (decoding, encoding) }
                let results = [
                    try await comesBack([Holder(id: 1, outer: outer)]),
                    try await comesBack([MaybeHolder(id: 1, outer: outer), MaybeHolder(id: 2)]),
                    try await comesBack([BoxHolder(id: 1, box: .init(name: "b", outer: outer))]),
                    try await comesBack([ListHolder(id: 1, outers: [outer, outer], named: ["a": outer])]),
                    try await comesBack([MacroHolder(id: 1, outer: outer)]),
                    try await comesBack([WholeModel(id: 1, inner: inner)]),
                    try await comesBack([
                        WrappedHolder(
                            id: 1, outer: outer, inner: inner, number: 7,
                            date: Date(timeIntervalSinceReferenceDate: 5.5),
                            numbers: [1, 2], named: ["a": 1], maybe: inner),
                        WrappedHolder(
                            id: 2, outer: outer, inner: inner, number: 7, date: .distantPast, numbers: [], named: [:],
                            maybe: nil),
                    ]),
                ]
                count += results.count { $0 }
                // The ways of which JSON and stores both take one for the other.
                let shared: Set<Way> = [.keyedThenSingle, .singleThenKeyed, .keyedThenInner]
                if decoding == encoding && decoding != .text || shared.isSuperset(of: [decoding, encoding]) {
                    #expect(!results.contains(false), "\(decoding) \(encoding): \(results)")
                }
            }
        }
        #expect(count > 100)
    }

    @Test("are columns where a key and a single value are mixed, and filters find by them")
    func columns() async throws {
        Outer.ways.withLock { $0 = (.keyedThenSingle, .keyedThenInner) }
        defer { Outer.ways.withLock { $0 = (.keyed, .keyed) } }
        let counter = try Counter(Holder.self)
        try await counter.manager.save(Holder(id: 1, outer: Self.outer))
        #expect(try counter.strings("SELECT ZMARK || ZX || ZY FROM ZHOLDER") == ["m3why"])
        #expect(try await counter.manager.count(Holder.self, where: \.outer.mark == "m") == 1)
    }

    @Test("are refused when the store is opened if a value gets another form than is read, with the way out")
    func refused() async throws {
        defer { Outer.ways.withLock { $0 = (.keyed, .keyed) } }
        for (decoding, encoding) in [(Way.keyed, Way.list), (.single, .text), (.keyed, .text)] {
            Outer.ways.withLock { $0 = (decoding, encoding) }
            let manager = PersistenceManager(models: Holder.self, store: .memory)
            let error = await #expect(throws: PersistenceError.self) { try await manager.load() }
            #expect(error?.code == .notDerivable && error?.entity == "Holder", "\(decoding) \(encoding)")
            #expect(error?.reason?.contains("Schema(.json(\\.outer))") == true, "\(String(describing: error))")
        }
    }
}
