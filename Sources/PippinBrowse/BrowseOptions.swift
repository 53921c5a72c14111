/// What the arguments ask for, as a value.
struct BrowseOptions: Equatable {
    /// Arguments that make no sense.
    struct Misuse: Error, Equatable {
        let message: String
    }

    var store = ""
    var model: String?
    var schema: String?
    var port = 0
    /// The secret in the address; nil for a new one.
    var token: String?
    var isWritable = false
    var opensBrowser = true

    /// - Throws: `Misuse` that says which argument is wrong.
    init(_ arguments: [String]) throws {
        var stores: [String] = []
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            func value() throws -> String {
                guard let value = parts.count == 2 ? parts[1] : rest.popFirst(), !value.isEmpty else {
                    throw Misuse(message: "\(parts[0]) needs a value")
                }
                return value
            }
            switch parts[0] {
            case "--write": isWritable = true
            case "--no-open": opensBrowser = false
            case "--model": model = try value()
            case "--schema": schema = try value()
            case "--port":
                let text = try value()
                guard let number = UInt16(text) else { throw Misuse(message: "“\(text)” is no port") }
                port = Int(number)
            case _ where argument.hasPrefix("-"): throw Misuse(message: "browse has no option “\(argument)”")
            default: stores.append(argument)
            }
        }
        guard let store = stores.first else { throw Misuse(message: "browse needs the path of a store, or its URL") }
        guard stores.count == 1 else { throw Misuse(message: "browse takes one store; “\(stores[1])” is one too many") }
        self.store = store
    }
}
