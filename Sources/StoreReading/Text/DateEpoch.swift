/// From when numbers count, and in which unit, that are dates of another system. Pure.
package enum DateEpoch: String, CaseIterable, Sendable {
    case unix
    case unixMilliseconds = "unix-ms"
    case unixMicroseconds = "unix-us"
    case unixNanoseconds = "unix-ns"
    case coreData = "2001"
    case coreDataNanoseconds = "2001-ns"
    /// Microseconds since 1601, of WebKit and Chromium.
    case webKit = "webkit"

    /// The date of a number, in seconds since 2001.
    package func secondsSince2001(_ number: Double) -> Double {
        switch self {
        case .unix: number - 978_307_200
        case .unixMilliseconds: number / 1e3 - 978_307_200
        case .unixMicroseconds: number / 1e6 - 978_307_200
        case .unixNanoseconds: number / 1e9 - 978_307_200
        case .coreData: number
        case .coreDataNanoseconds: number / 1e9
        case .webKit: number / 1e6 - 12_622_780_800
        }
    }
}

/// The properties that have dates as numbers: `sent=unix-ms,Visit.time=webkit`. Pure.
package struct DateEpochs: Equatable, Sendable {
    private let epochs: [String: DateEpoch]

    package init(_ epochs: [String: DateEpoch]) { self.epochs = epochs }

    /// Reads the value of `--dates`.
    ///
    /// - Parameter text: properties, each with an equals sign and the name of an epoch, and commas between them.
    /// - Throws: `CommandError` that says what is wrong.
    package init(_ text: String) throws {
        var epochs: [String: DateEpoch] = [:]
        for part in text.split(separator: ",") {
            let sides = part.split(separator: "=", maxSplits: 1).map(String.init)
            let known = DateEpoch.allCases.map(\.rawValue).joined(separator: ", ")
            guard sides.count == 2, let epoch = DateEpoch(rawValue: sides[1]) else {
                throw CommandError(
                    "“\(part)” is not a property with its epoch, such as sent=unix-ms; epochs are \(known)")
            }
            epochs[sides[0]] = epoch
        }
        self.epochs = epochs
    }

    /// The epoch of a property; nil if nothing is said of it.
    package func epoch(of property: String, in entity: String) -> DateEpoch? {
        epochs["\(entity).\(property)"] ?? epochs[property]
    }
}

/// The reason why the command cannot do what it was asked, naming what and where.
package struct CommandError: Error, Equatable {
    package let message: String
    package init(_ message: String) { self.message = message }
}
