#include "base/sha256.h"

#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <fstream>

#include "base/error.h"
#include "base/files.h"

namespace deft {

struct Sha256::State {
    std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context{EVP_MD_CTX_new(), &EVP_MD_CTX_free};
};

Sha256::Sha256() : state_(std::make_unique<State>()) {
    EVP_DigestInit_ex(state_->context.get(), EVP_sha256(), nullptr);
}

Sha256::~Sha256() = default;

void Sha256::add(std::string_view bytes) {
    EVP_DigestUpdate(state_->context.get(), bytes.data(), bytes.size());
}

std::string Sha256::hex() {
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
    unsigned size = 0;
    EVP_DigestFinal_ex(state_->context.get(), digest.data(), &size);
    constexpr std::string_view kDigits = "0123456789abcdef";
    std::string text;
    for (unsigned i = 0; i < size; ++i) {
        text += kDigits[digest[i] >> 4];
        text += kDigits[digest[i] & 15];
    }
    return text;
}

std::string sha256(std::string_view bytes) {
    Sha256 digest;
    digest.add(bytes);
    return digest.hex();
}

std::string sha256_base64(std::string_view bytes) {
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
    unsigned size = 0;
    EVP_Digest(bytes.data(), bytes.size(), digest.data(), &size, EVP_sha256(), nullptr);
    std::array<unsigned char, 2 * EVP_MAX_MD_SIZE> text{};
    const int length = EVP_EncodeBlock(text.data(), digest.data(), static_cast<int>(size));
    return {reinterpret_cast<const char*>(text.data()), static_cast<std::size_t>(length)};
}

std::string sha256_file(const std::filesystem::path& file) {
    require_regular_file(file);
    std::ifstream in(file, std::ios::binary);
    if (!in) throw Error(ErrorKind::io, "cannot read " + file.string());
    Sha256 digest;
    std::array<char, 1 << 16> buffer{};
    while (in.read(buffer.data(), buffer.size()) || in.gcount() > 0)
        digest.add({buffer.data(), static_cast<std::size_t>(in.gcount())});
    if (in.bad()) throw Error(ErrorKind::io, "cannot read " + file.string());
    return digest.hex();
}

std::string sha256(const MappedFile& file) {
    constexpr std::size_t kPiece = std::size_t{4} << 20;
    Sha256 digest;
    for (std::span rest = file.bytes(); !rest.empty();) {
        const std::span piece = rest.first(std::min(rest.size(), kPiece));
        file.require_whole();
        digest.add({reinterpret_cast<const char*>(piece.data()), piece.size()});
        file.release(piece);
        rest = rest.subspan(piece.size());
    }
    return digest.hex();
}

}  // namespace deft
